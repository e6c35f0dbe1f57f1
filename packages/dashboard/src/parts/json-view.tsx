import { useState } from 'react';
import { visible } from '@undolog/client/visible-text';
import { writeExactly } from '../server/exact-json';

/** More than a person reads at once; a browser that lays out megabytes of text stands still. */
const SHOWN_CHARS = 10_000;

/** Line by line: the breaks are ours, and whatever else would act instead of being seen is written out. */
function shownText(value: unknown): string {
  return writeExactly(value).split('\n').map(visible).join('\n');
}

export function JsonView({ label, value }: { readonly label: string; readonly value: unknown }) {
  const [whole, setWhole] = useState(false);
  const text = shownText(value);
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
  return <>{visible(typeof value === 'string' ? value : writeExactly(value).replaceAll(/\s+/g, ' '))}</>;
}
