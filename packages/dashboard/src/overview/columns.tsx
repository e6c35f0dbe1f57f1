import type { CSSProperties } from 'react';

export interface Column {
  /** Under the axis, where there is room. */
  readonly label: string;
  /** From the ground up; the names are those of colours. */
  readonly parts: Readonly<Record<string, number>>;
}

interface ColumnsProps {
  readonly columns: readonly Column[];
  /** What it shows, in a sentence with its numbers: a picture is nothing to who can't see it. */
  readonly words: string;
}

const MAX_LABELS = 8;

const heightOf = ({ parts }: Column): number => Object.values(parts).reduce((sum, part) => sum + part, 0);

/** The next round number whose half is one as well: 2, 4, 6, 8 or 10, with noughts. */
function roundUp(highest: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  return [2, 4, 6, 8, 10, 20].map((times) => times * step).find((round) => round >= highest)!;
}

function inWords({ label, parts }: Column): string {
  const said = Object.entries(parts).map(([name, count]) => `${count} ${name}`);
  return `${label}: ${said.join(', ')}`;
}

const share = (part: number, top: number): CSSProperties => ({ height: `${(part / top) * 100}%` });

/** Columns of counts, one upon the other. */
export function Columns({ columns, words }: ColumnsProps) {
  const top = roundUp(Math.max(...columns.map(heightOf)));
  const every = Math.ceil(columns.length / MAX_LABELS);
  return (
    <figure className="columns" role="img" aria-label={words}>
      <div className="scale" aria-hidden="true">
        <span>{top.toLocaleString()}</span>
        <span>{(top / 2).toLocaleString()}</span>
        <span>0</span>
      </div>
      <div className="plot" aria-hidden="true">
        {columns.map((column) => (
          <div key={column.label} className="column" title={inWords(column)}>
            {Object.entries(column.parts).map(([name, count]) => (
              <span key={name} className={`part ${name}`} style={share(count, top)} />
            ))}
          </div>
        ))}
      </div>
      <div className="labels" aria-hidden="true">
        {columns.map(({ label }, index) => index % every === 0 && <span key={label}>{label}</span>)}
      </div>
    </figure>
  );
}
