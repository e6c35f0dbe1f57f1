import type { Session, StandingEffect } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';

function reasonInWords({ reason, outcome }: StandingEffect): string {
  const why = reason === null ? 'not undone' : visible(reason.replaceAll('_', ' '));
  return outcome === 'unknown' ? `${why}; nobody knows whether it took effect` : why;
}

/** What is left at the vendors, as far as is known. */
export function Standing({ session }: { readonly session: Session }) {
  const { effects_standing: standing, fully_compensated: all, state } = session;
  if (all && state === 'compensated') {
    return <p className="nothing-stands">Nothing stands: every effect was undone.</p>;
  }
  if (standing.length === 0) return null;
  return (
    <section className="standing" aria-label="What stands">
      <h2>What stands at the vendors</h2>
      <ul>
        {standing.map((effect) => (
          <li key={effect.effect_id} className={effect.outcome === 'unknown' ? 'unknown' : ''}>
            <span className="position">{effect.stack_position}</span> <strong>{visible(effect.tool_name)}</strong>{' '}
            <span>{reasonInWords(effect)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
