import { useState } from 'react';
import { visible } from '@undolog/client/visible-text';
import { writeExactly } from '../server/exact-json';

/** More than a person reads at once; a browser that lays out megabytes of text stands still. */
const SHOWN_CHARS = 10_000;

export function JsonView({ label, value }: { readonly label: string; readonly value: unknown }) {
  const [whole, setWhole] = useState(false);
  const text = writeExactly(value);
  const cut = !whole && text.length > SHOWN_CHARS;
  return (
    <figure className="json">
      <figcaption>{label}</figcaption>
      <pre tabIndex={0}>{cut ? `${text.slice(0, SHOWN_CHARS)}…` : text}</pre>
      {cut && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </figure>
  );
}

/** A reason is text mostly, but may be any JSON. */
export function Words({ value }: { readonly value: unknown }) {
  return <>{typeof value === 'string' ? visible(value) : writeExactly(value).replaceAll(/\s+/g, ' ')}</>;
}
