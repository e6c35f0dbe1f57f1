import { cpus } from 'node:os';

/** What a figure was measured on, for whoever compares it with another. */
export function describeMachine(backends: string): { readonly machine: string; readonly backends: string } {
  const all = cpus();
  return { machine: `${all.length} × ${all[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`, backends };
}

/** To so many decimals, for people. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
