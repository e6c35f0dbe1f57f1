/** What an undo's code means for the person who looks at it, and what is safe to do. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  outcome_unknown:
    'a call may or may not have taken effect; retrying it under the same key is safe if the vendor honours keys',
  endpoint_unreachable: 'the vendor never answered; retry once it is back',
  not_confirmed: 'the vendor said done, but its record does not show it; ask again (confirm), nothing is sent twice',
  undo_failed: "the vendor's record shows the undo as failed; look there before you retry",
  lookup_failed: 'whether the effect exists could not be found out; retry once the vendor answers',
  missing_result: 'the arguments need a result that nobody has; retry with other arguments',
  url_not_allowed: 'the address is not allowed to be called; register another version, and retry with it',
  stalled: 'workers were lost again and again while they asked about it; look at the logs before you retry',
  key_expired: 'the vendor may have forgotten the key; confirm before you retry',
  undo_deadline_passed: "the vendor's time for this undo is over; see to it by hand, then resolve",
  value_damaged: 'what is to be sent can not be read any more; see to it by hand, then resolve',
  host_unavailable: 'its vendor is down; it goes on by itself once the vendor answers',
  compensation_paused: 'its compensation is paused; resume it when the vendor is well',
  child_halted: 'a child session is halted; see to that one first, then retry this',
  unknown_secret: 'a secret that the call names does not exist; set it, then retry',
  encryption_key_missing: 'what is to be sent is sealed with a key that is not here; start with that key',
};

export function explain(code: string | null): string {
  if (code === null) return '';
  const status = /^http_(\d{3})$/.exec(code)?.[1];
  if (status === undefined) return EXPLANATIONS[code] ?? code;
  if (status === '401' || status === '403') return `the vendor refused us (${status}); check the secret, then retry`;
  // Only a refusal says that nothing happened; whatever else was answered, the undo may have been done.
  if (!status.startsWith('4'))
    return `the vendor answered ${status}; if the entry is unconfirmed it may be undone: ask first (confirm), then retry`;
  return `the vendor refused (${status}), so nothing was undone; correct the arguments and retry, skip or resolve`;
}
