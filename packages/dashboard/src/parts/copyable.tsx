import { useState } from 'react';
import { visible } from '@undolog/client/visible-text';

const SAID_MS = 1500;
/** Browsers give the clipboard to pages that came by https, or from this machine. */
const CAN_COPY = window.isSecureContext;

/** An id, and a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  return (
    <span className="copyable">
      <code>{visible(text)}</code>
      {CAN_COPY && (
        <button type="button" className="quiet" onClick={() => void copy()} aria-label={`Copy ${label}`}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      )}
    </span>
  );
}
