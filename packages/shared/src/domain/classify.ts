import type { BodyRule, BodyRuleVerdict, OutcomeMap } from './compensation.js';
import { resolvePointer } from './json-pointer.js';
import { exactValue } from './exact-value.js';
import { parseJson, type JsonNode } from './json-text.js';
import { sameValue } from './same-value.js';
import type { Exchange, Verdict } from './verdict.js';

/** Whether a rule matches a JSON body. `exists: true` holds for `null` too. */
function matches(rule: BodyRule, body: JsonNode): boolean {
  const found = resolvePointer(body, rule.pointer);
  if (rule.exists !== undefined) return (found !== undefined) === rule.exists;
  if (found === undefined) return false;
  const value = exactValue(found);
  return rule.in ? rule.in.some((one) => sameValue(one, value)) : sameValue(rule.equals, value);
}

/** The first rule that matches decides, whatever the status. A body that is cut or no JSON matches none. */
function ruled(rules: readonly BodyRule[], body: string | undefined): BodyRuleVerdict | undefined {
  if (rules.length === 0 || body === undefined) return undefined;
  const parsed = parseJson(body);
  return parsed.ok ? rules.find((rule) => matches(rule, parsed.node))?.is : undefined;
}

/** A status of its own accord: 2xx done, 429 and 5xx retried, the rest of 3xx and 4xx permanent. */
function byStatus(status: number): BodyRuleVerdict {
  if (status >= 200 && status < 300) return 'done';
  if (status === 429) return 'retry';
  if (status >= 300 && status < 500) return 'permanent';
  return 'unknown';
}

function listed(outcomes: OutcomeMap, status: number): BodyRuleVerdict | undefined {
  if (outcomes.done.includes(status)) return 'done';
  if (outcomes.retry.includes(status)) return 'retry';
  return outcomes.permanent.includes(status) ? 'permanent' : undefined;
}

function judgeAnswer(status: number, body: string | undefined, outcomes: OutcomeMap): Verdict {
  const is = ruled(outcomes.body, body) ?? listed(outcomes, status) ?? byStatus(status);
  const code = `http_${status}` as const;
  // Only 3xx and 4xx say that nothing happened; anything else that is to be tried again may have done something.
  const unknown = status >= 500 || status < 300;
  switch (is) {
    case 'done':
      return { kind: 'done', accepted: status === 202 };
    case 'retry':
      return unknown ? { kind: 'unknown', permanent: false, code } : { kind: 'refused', permanent: false, code };
    case 'permanent':
      return { kind: 'refused', permanent: true, code };
    case 'unknown':
      return { kind: 'unknown', permanent: false, code };
    default:
      return is satisfies never;
  }
}

/** What one try means: by body rules, then by the lists of the compensation, then by the status itself. */
export function classify(exchange: Exchange, outcomes: OutcomeMap): Verdict {
  switch (exchange.kind) {
    case 'answer':
      return judgeAnswer(exchange.status, exchange.body, outcomes);
    case 'not_sent':
      return { kind: 'not_sent' };
    case 'blocked':
      return { kind: 'refused', permanent: true, code: 'url_not_allowed' };
    case 'no_answer':
      return { kind: 'unknown', permanent: false, code: 'outcome_unknown' };
    default:
      return exchange satisfies never;
  }
}
