/** The audit log, append-only by triggers, and its seals; part of the first schema. */
export const AUDIT = `
CREATE TABLE undolog_audit_log (
  org_id uuid NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  -- The stream reads in the order of transactions, up to the oldest that is still open.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL,
  action text NOT NULL,
  session_id text COLLATE "C",
  undo_id uuid,
  -- Of what concerns a compensation as a whole.
  fn_name text COLLATE "C",
  reason bytea,
  -- In place of a reason that was erased: the seals go on proving that there was this one.
  erased_reason_hash bytea,
  PRIMARY KEY (org_id, seq),
  CHECK (reason IS NULL OR erased_reason_hash IS NULL)
);
CREATE INDEX undolog_audit_log_stream ON undolog_audit_log (org_id, xid, seq);
CREATE INDEX undolog_audit_log_session ON undolog_audit_log (session_id, org_id, seq);
CREATE INDEX undolog_audit_log_undo ON undolog_audit_log (undo_id, org_id, seq) WHERE undo_id IS NOT NULL;
CREATE INDEX undolog_audit_log_unsealed ON undolog_audit_log (xid);
CREATE FUNCTION undolog_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The words of a reason may be taken away, and nothing else.
  IF TG_OP = 'UPDATE' AND OLD.reason IS NOT NULL AND NEW.erased_reason_hash = sha256(OLD.reason) THEN
    OLD.erased_reason_hash := NEW.erased_reason_hash;
    OLD.reason := NULL;
    IF NEW IS NOT DISTINCT FROM OLD THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER undolog_audit_log_append_only BEFORE UPDATE OR DELETE ON undolog_audit_log
  FOR EACH ROW EXECUTE FUNCTION undolog_refuse_change();
CREATE TRIGGER undolog_audit_log_no_truncate BEFORE TRUNCATE ON undolog_audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION undolog_refuse_change();

-- Each seal holds the entries of an org up to its place, and the seal before it.
CREATE TABLE undolog_audit_seals (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  number bigint NOT NULL CHECK (number >= 1),
  to_xid xid8 NOT NULL,
  to_seq bigint NOT NULL,
  entries integer NOT NULL CHECK (entries >= 1),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  sealed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, number)
);
-- One row: transactions before this one are sealed. Whoever seals holds it.
CREATE TABLE undolog_audit_sealing (sealed_to xid8 NOT NULL DEFAULT '0');
INSERT INTO undolog_audit_sealing DEFAULT VALUES;`;
