import type { Compensation } from './compensation.js';
import type { ErrorCodeName } from './error-codes.js';
import { faultOfHeader } from './header-rules.js';
import { pointerStep } from './pointer-step.js';

export interface CompensationFault {
  readonly code: Extract<
    ErrorCodeName,
    'ambiguous_outcome' | 'confirm_required' | 'header_not_allowed' | 'unknown_secret' | 'url_not_allowed'
  >;
  /** JSON pointer into the registration. */
  readonly path: string;
  readonly message: string;
}

/** The first thing for which a well-formed compensation is refused, short of what is known elsewhere: addresses, secrets. */
export function faultOfCompensation(spec: Compensation): CompensationFault | undefined {
  return faultOfOutcomes(spec) ?? faultOfHeaders(spec) ?? faultOfTemplates(spec) ?? faultOfAsync(spec);
}

function faultOfOutcomes({ outcomes }: Compensation): CompensationFault | undefined {
  const listed = new Map<number, string>();
  for (const list of ['done', 'retry', 'permanent'] as const) {
    for (const status of outcomes[list]) {
      const other = listed.get(status) ?? list;
      listed.set(status, list);
      if (other === list) continue;
      const message = `${status} stands in ${other} and in ${list}`;
      return { code: 'ambiguous_outcome', path: `/outcomes/${list}`, message };
    }
  }
  return undefined;
}

function faultOfHeaders({ headers }: Compensation): CompensationFault | undefined {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const path = `/headers${pointerStep(name)}`;
    const fault = faultOfHeader(name, typeof value === 'string' ? value : undefined);
    if (fault !== undefined) return { code: 'header_not_allowed', path, message: `the header ${fault}` };
    if (seen.has(name.toLowerCase())) return { code: 'header_not_allowed', path, message: 'the header is given twice' };
    seen.add(name.toLowerCase());
  }
  return undefined;
}

/** The first header that names a secret which is not among those that exist. */
export function faultOfSecrets(
  { headers }: Compensation,
  existing: ReadonlySet<string>,
): CompensationFault | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' || existing.has(value.secret)) continue;
    return { code: 'unknown_secret', path: `/headers${pointerStep(name)}`, message: 'there is no such secret' };
  }
  return undefined;
}

/** Everything before the path of an address: what decides who is called. */
const ORIGIN = /^[^/?#]*(?:\/\/)?[^/?#]*/;

function faultOfTemplates(spec: Compensation): CompensationFault | undefined {
  if (/[{}]/.test(spec.url)) {
    return { code: 'url_not_allowed', path: '/url', message: 'templates are filled in confirm and lookup only' };
  }
  for (const part of ['confirm', 'lookup'] as const) {
    const origin = ORIGIN.exec(spec[part]?.url ?? '')?.[0] ?? '';
    if (!/[{}]/.test(origin)) continue;
    return { code: 'url_not_allowed', path: `/${part}/url`, message: 'no template may stand in scheme, host or port' };
  }
  return undefined;
}

function faultOfAsync(spec: Compensation): CompensationFault | undefined {
  if (!spec.async || spec.confirm) return undefined;
  return { code: 'confirm_required', path: '/confirm', message: 'an asynchronous compensation must declare confirm' };
}
