import { parser } from '@prometheus-io/lezer-promql';

/** What an expression of PromQL takes from the processes. */
export interface Queried {
  readonly metrics: readonly string[];
  /** Each label that is matched or grouped by; the values are those that it is matched with. */
  readonly labels: readonly { readonly label: string; readonly values: readonly string[] }[];
}

/** Reads an expression with the grammar of Prometheus itself. @throws where it is none. */
export function readPromql(text: string): Queried {
  const metrics: string[] = [];
  const labels: { label: string; values: string[] }[] = [];
  const at = ({ from, to }: { readonly from: number; readonly to: number }): string => text.slice(from, to);
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) throw new Error(`no PromQL at ${node.from}: ${text}`);
      if (type.name === 'VectorSelector') metrics.push(at(node.getChild('Identifier')!));
      if (type.name === 'GroupingLabels') {
        labels.push(...node.getChildren('LabelName').map((name) => ({ label: at(name), values: [] })));
      }
      if (type.name === 'UnquotedLabelMatcher') {
        const matched = at(node.getChild('StringLiteral')!).slice(1, -1);
        const values = at(node.getChild('MatchOp')!) === '=' ? [matched] : matched.split('|');
        labels.push({ label: at(node.getChild('LabelName')!), values });
      }
    },
  });
  return { metrics, labels };
}
