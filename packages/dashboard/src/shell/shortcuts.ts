import { useEffect, useRef } from 'react';

/** What keys do, by where they do it; `?` shows this very list. */
export const SHORTCUTS = {
  Everywhere: {
    '?': 'show these keys',
    '/': 'search',
    'g o': 'overview',
    'g s': 'sessions',
    'g d': 'dead letters',
    'g c': 'compensations',
    'g a': 'audit log',
    Esc: 'close, or go back to the list',
  },
  'In lists': { 'j, k': 'down, up', Enter: 'open', Space: 'pick a dead letter', b: 'act on many dead letters' },
  'At a dead letter, or a halted session': {
    r: 'retry',
    e: 'correct the arguments and retry',
    s: 'skip',
    a: 'ask the vendor now',
    x: 'resolve by hand',
  },
  'In a session': {
    'j, k': 'down and up the stack',
    Enter: 'details of an entry',
    p: 'preview the plan',
    f: 'fail it',
  },
} as const satisfies Record<string, Record<string, string>>;

type Handlers = Readonly<Record<string, (() => void) | undefined>>;

const SEQUENCE_MS = 1200;

/** The newest last; it is asked first. */
const layers: { handlers: Handlers }[] = [];
let prefix = '';
let prefixAtMs = 0;

const TYPED_INTO = 'input, textarea, select, [contenteditable], [role="menu"]';
/** Where these keys have a meaning of their own. */
const PRESSED_BY: Readonly<Record<string, string>> = { Enter: 'a, button, summary', ' ': 'button, summary' };

function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest(TYPED_INTO)) return event.key !== 'Escape' || target.closest('[role="menu"]') !== null;
  const pressed = PRESSED_BY[event.key];
  return pressed !== undefined && target.closest(pressed) !== null;
}

window.addEventListener('keydown', (event) => {
  // A dialog has the keyboard to itself.
  if (isTaken(event) || document.querySelector('dialog[open]')) return;
  const sequence = prefix !== '' && event.timeStamp - prefixAtMs < SEQUENCE_MS ? `${prefix} ${event.key}` : event.key;
  prefix = event.key === 'g' ? 'g' : '';
  prefixAtMs = event.timeStamp;
  const act = layers.toReversed().find(({ handlers }) => handlers[sequence])?.handlers[sequence];
  if (!act) return;
  event.preventDefault();
  act();
});

/** Keys that act while the component is shown. An undefined handler leaves its key to what is beneath. */
export function useShortcuts(handlers: Handlers): void {
  const layer = useRef({ handlers });
  useEffect(() => {
    layer.current.handlers = handlers;
  });
  useEffect(() => {
    const mine = layer.current;
    layers.push(mine);
    return () => void layers.splice(layers.indexOf(mine), 1);
  }, []);
}
