import { useEffect, useEffectEvent, useId, useState } from 'react';
import { readFieldTime, writeFieldTime } from '../clock';
import { usePreferences } from '../shell/preferences';

const TYPING_MS = 250;

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly change: (value: string) => void;
  /** The field that `/` leads to. */
  readonly search?: boolean;
}

/** Filters once the reader has stopped typing. */
export function TextFilter({ label, value = '', change, search = false }: TextFilterProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [taken, setTaken] = useState(value);
  if (value !== taken) {
    setTaken(value);
    setTyped(value);
  }
  const give = useEffectEvent(() => change(typed.trim()));
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => give(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
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
  return (
    <div className="filter">
      <label htmlFor={id}>
        {label}
        {utc && ' (UTC)'}
      </label>
      <input
        key={String(utc)}
        id={id}
        type="datetime-local"
        defaultValue={value === undefined ? '' : writeFieldTime(value, utc)}
        onChange={({ target }) => change(target.value === '' ? '' : readFieldTime(target.value, utc))}
      />
    </div>
  );
}
