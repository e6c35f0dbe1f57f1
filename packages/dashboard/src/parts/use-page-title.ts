import { useEffect } from 'react';

/** Names the place, and nothing of what is shown there but an id. */
export function usePageTitle(place: string): void {
  useEffect(() => {
    document.title = `${place} · UndoLog`;
  }, [place]);
}
