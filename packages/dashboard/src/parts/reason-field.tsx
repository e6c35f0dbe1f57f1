import { useId } from 'react';

interface ReasonFieldProps {
  readonly label: string;
  readonly required?: boolean;
}

/** Words for the audit log. */
export function ReasonField({ label, required = false }: ReasonFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} name="reason" type="text" maxLength={2000} required={required} autoComplete="off" />
    </div>
  );
}
