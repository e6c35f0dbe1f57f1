import {
  EFFECT_TRANSITIONS,
  move,
  SESSION_TRANSITIONS,
  UNDO_TRANSITIONS,
  type EffectState,
  type SessionState,
  type UndoState,
} from '@undolog/shared/domain/states';
import type { Database } from '@undolog/shared/store/database';

// Postgres itself takes the minutes: every change of a state, by whichever statement.
const RECORD = `
CREATE TABLE test_moves (thing text, from_state text, to_state text, PRIMARY KEY (thing, from_state, to_state));
CREATE FUNCTION test_record_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO test_moves VALUES (TG_TABLE_NAME, OLD.state, NEW.state) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
${['undolog_sessions', 'undolog_effect_log', 'undolog_undo_stack']
  .map(
    (table) => `CREATE TRIGGER test_record AFTER UPDATE OF state ON ${table} FOR EACH ROW
      WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION test_record_move();`,
  )
  .join('\n')}`;

export async function recordStateMoves(database: Database): Promise<void> {
  await database.query({ text: RECORD });
}

export interface StateMove {
  readonly thing: string;
  readonly from_state: string;
  readonly to_state: string;
}

/**
 * Holds every move that the SQL made against the transition tables.
 *
 * @returns the moves. @throws {IllegalTransition} for one that its table does not know.
 */
export async function checkStateMoves(database: Database): Promise<StateMove[]> {
  const moves = await database.query<StateMove>({ text: 'SELECT thing, from_state, to_state FROM test_moves' });
  for (const { thing, from_state: from, to_state: to } of moves) {
    if (thing === 'undolog_sessions') move(thing, SESSION_TRANSITIONS, from as SessionState, to as SessionState);
    else if (thing === 'undolog_effect_log') move(thing, EFFECT_TRANSITIONS, from as EffectState, to as EffectState);
    else move(thing, UNDO_TRANSITIONS, from as UndoState, to as UndoState);
  }
  return moves;
}
