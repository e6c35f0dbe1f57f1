/**
 * What the stage adds to the product's database: minutes of every change of a state, which the checker reads, and a
 * switch for the errors that a Postgres in trouble answers with.
 */
const TABLES = [
  { table: 'undolog_sessions', thing: 'session', id: 'session_id' },
  { table: 'undolog_effect_log', thing: 'effect', id: 'effect_id' },
  { table: 'undolog_undo_stack', thing: 'undo', id: 'undo_id' },
] as const;

const MINUTES = `
CREATE TABLE chaos_moves (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
  org_id uuid NOT NULL, thing text NOT NULL, id text NOT NULL, from_state text NOT NULL, to_state text NOT NULL);
CREATE FUNCTION chaos_note_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chaos_moves (org_id, thing, id, from_state, to_state)
  VALUES (NEW.org_id, TG_ARGV[0], to_jsonb(NEW) ->> TG_ARGV[1], OLD.state, NEW.state);
  RETURN NULL;
END $$;
${TABLES.map(
  ({ table, thing, id }) => `CREATE TRIGGER chaos_moves AFTER UPDATE OF state ON ${table} FOR EACH ROW
  WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION chaos_note_move('${thing}', '${id}');`,
).join('\n')}`;

const TROUBLE = `
CREATE TABLE chaos_trouble (sqlstate text);
CREATE FUNCTION chaos_trouble() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE trouble text;
BEGIN
  SELECT sqlstate INTO trouble FROM chaos_trouble;
  IF trouble IS NOT NULL AND random() < 0.5 THEN RAISE EXCEPTION USING ERRCODE = trouble, MESSAGE = 'in trouble, as asked'; END IF;
  RETURN NULL;
END $$;
${TABLES.map(
  ({ table }) => `CREATE TRIGGER chaos_trouble BEFORE INSERT OR UPDATE ON ${table}
  FOR EACH STATEMENT EXECUTE FUNCTION chaos_trouble();`,
).join('\n')}`;

export const WATCH_POSTGRES = MINUTES + TROUBLE;
