/**
 * What a seal is made of, in SQL, for whoever makes one and whoever proves one.
 *
 * Of a reason only its hash goes in, so that its words can be erased and the seal still holds.
 */

/** The hash of the audit entry `a`; an array of its members as JSON text can't be read in two ways. */
export const ENTRY_HASH = `sha256(convert_to(json_build_array(
  a.xid::text, a.seq, (extract(epoch FROM a.at) * 1000000)::bigint, a.actor, a.action, a.session_id, a.undo_id, a.fn_name,
  encode(coalesce(a.erased_reason_hash, sha256(a.reason)), 'hex'))::text, 'UTF8'))`;

/** @param parts SQL: the hash of the seal before, this one's number, and the hashes of its entries in their order. */
export function sealHash(parts: {
  readonly previous: string;
  readonly number: string;
  readonly entries: string;
}): string {
  return `sha256(coalesce(${parts.previous}, ''::bytea) || int8send(${parts.number}) || ${parts.entries})`;
}
