import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

export const read = (path: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

const rule = z.strictObject({
  alert: z.string().regex(/^Undolog[A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[smh]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});

const ruleFile = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })) });

export type AlertRule = z.output<typeof rule>;

/** The alerts of ops/prometheus/alerts.yml. @throws where Prometheus would not take the file. */
export async function alertRules(): Promise<AlertRule[]> {
  const { groups } = ruleFile.parse(parse(await read('ops/prometheus/alerts.yml')));
  return groups.flatMap(({ rules }) => rules);
}

const dashboard = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});

/** The expressions of the dashboard, with a duration in place of Grafana's own variable. */
export async function dashboardExpressions(): Promise<{ ids: number[]; expressions: string[] }> {
  const { panels } = dashboard.parse(JSON.parse(await read('ops/grafana/undolog.json')));
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return {
    ids: panels.map(({ id }) => id),
    expressions: expressions.map((expr) => expr.replaceAll('$__rate_interval', '5m')),
  };
}
