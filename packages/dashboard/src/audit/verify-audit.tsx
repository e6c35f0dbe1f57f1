import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { UndoLog, VerifiedAudit } from '@undolog/client';
import { reasonOf } from '../parts/failure';
import { useApi } from '../server/api';

interface Proof {
  readonly entries: number;
  readonly last: VerifiedAudit;
}

/** Proves the whole chain, part after part. */
async function prove(api: UndoLog, tell: (proof: Proof) => void): Promise<Proof> {
  let entries = 0;
  let after = 0;
  for (;;) {
    const last = await api.audit.verify(after);
    entries += last.entries;
    tell({ entries, last });
    if (!last.ok || last.next === null) return { entries, last };
    after = last.next;
  }
}

function Verdict({ entries, last }: Proof) {
  const { ok, first_fault: fault, sealed_through: through, unsealed } = last;
  if (!ok)
    return (
      <strong className="fault">
        Seal {fault?.seal} does not hold: {fault?.kind}.
      </strong>
    );
  return (
    <>
      {entries.toLocaleString()} entries are as they were sealed
      {through && (
        <>
          ; the newest seal is {through.number}, <code>{through.hash.slice(0, 16)}…</code>
        </>
      )}
      . {unsealed} wait for their seal.
    </>
  );
}

export function VerifyAudit() {
  const api = useApi();
  const [proof, setProof] = useState<Proof>();
  const { mutate, isPending, error } = useMutation({ mutationFn: () => prove(api, setProof) });
  return (
    <div className="verify">
      <button type="button" disabled={isPending} onClick={() => mutate()}>
        {isPending ? 'Proving…' : 'Prove that nothing was altered'}
      </button>
      <p role="status">
        {error && <span className="fault">{reasonOf(error)}</span>}
        {!error && proof && <Verdict {...proof} />}
      </p>
    </div>
  );
}
