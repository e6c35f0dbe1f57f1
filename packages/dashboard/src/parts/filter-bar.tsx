import { useState, type ReactNode } from 'react';

const NARROW = window.matchMedia('(max-width: 700px)');

interface FilterBarProps {
  /** The field that is always there. */
  readonly search: ReactNode;
  readonly children?: ReactNode;
}

/** The filters of a list. On a phone all but the search are folded away, or they would leave the list no room. */
export function FilterBar({ search, children }: FilterBarProps) {
  const [open] = useState(() => !NARROW.matches);
  return (
    <form role="search" className="filters" onSubmit={(event) => event.preventDefault()}>
      {search}
      {children !== undefined && (
        <details open={open}>
          <summary>Filters</summary>
          <div className="filters">{children}</div>
        </details>
      )}
    </form>
  );
}
