import { useEffect, useEffectEvent, useId, useState } from 'react';
import { LAST_FIELD_TIME, readFieldTime, writeFieldTime } from '../clock';
import { usePreferences } from '../shell/preferences';

const TYPING_MS = 250;

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly change: (value: string) => void;
  /** The field that `/` leads to. */
  readonly search?: boolean;
}

/** What stands in a field: what is typed is given on once the reader has stopped, and what comes from elsewhere replaces it. */
function useTyped(value: string, change: (typed: string) => void): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const [taken, setTaken] = useState(value);
  if (value !== taken) {
    setTaken(value);
    setTyped(value);
  }
  const give = useEffectEvent(() => change(typed));
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => give(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return [typed, setTyped];
}

export function TextFilter({ label, value = '', change, search = false }: TextFilterProps) {
  const id = useId();
  const [typed, setTyped] = useTyped(value, (text) => change(text.trim()));
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={search ? 'search' : 'text'}
        value={typed}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </div>
  );
}

interface ChoiceFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: Readonly<Record<string, string>>;
  readonly change: (value: string) => void;
}

export function ChoiceFilter({ label, value = '', choices, change }: ChoiceFilterProps) {
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => change(event.target.value)}>
        {Object.entries(choices).map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The browser's field for a time, in the reader's zone; the filter itself is UTC. */
export function TimeFilter({ label, value, change }: Omit<TextFilterProps, 'search'>) {
  const id = useId();
  const utc = usePreferences().zone === 'utc';
  const shown = value === undefined ? '' : writeFieldTime(value, utc);
  const [typed, setTyped] = useTyped(shown, (text) => change(text === '' ? '' : readFieldTime(text, utc)));
  return (
    <div className="filter">
      <label htmlFor={id}>
        {label}
        {utc && ' (UTC)'}
      </label>
      <input
        id={id}
        type="datetime-local"
        max={LAST_FIELD_TIME}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  );
}
