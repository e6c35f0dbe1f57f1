import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Overview } from '@undolog/client';
import { Age, writeMilliseconds } from '../parts/moment';

interface TileProps {
  readonly href: string;
  readonly name: string;
  readonly count: ReactNode;
  readonly tone?: 'bad' | 'busy' | undefined;
  readonly children?: ReactNode;
}

function Tile({ href, name, count, tone, children }: TileProps) {
  return (
    <Link href={href} className={`tile ${tone ?? ''}`}>
      <span>{name}</span>
      <span className="count">{count}</span>
      <span className="hint">{children}</span>
    </Link>
  );
}

/** The four numbers that tell whether somebody must get up. */
export function StateTiles({ overview }: { readonly overview: Overview }) {
  const { states, capped, dead_letters: letters, unwind } = overview;
  const undoing = states.failed + states.compensating;
  const count = (number: number, ...of: readonly string[]): string =>
    number.toLocaleString() + (capped.some((state) => of.includes(state)) ? '+' : '');
  return (
    <div className="tiles">
      <Tile
        href="/dead-letters"
        name="Wait for a person"
        count={count(letters.open, 'halted')}
        tone={letters.open > 0 ? 'bad' : undefined}
      >
        {letters.oldest_halted_at === null ? (
          'nothing is halted'
        ) : (
          <>
            the oldest <Age at={letters.oldest_halted_at} />
          </>
        )}
      </Tile>
      <Tile
        href="/sessions?state=failed,compensating"
        name="Being undone"
        count={count(undoing, 'failed', 'compensating')}
        tone={undoing > 0 ? 'busy' : undefined}
      >
        {states.failed} not begun yet
      </Tile>
      <Tile href="/sessions?state=active" name="Active" count={count(states.active, 'active')}>
        agents at work
      </Tile>
      <Tile href="/sessions?state=compensated" name="Undone" count={unwind.count.toLocaleString()}>
        {unwind.p50_ms === null ? 'none in this time' : `half of them within ${writeMilliseconds(unwind.p50_ms)}`}
      </Tile>
    </div>
  );
}
