import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Failure, Waiting } from './failure';

interface QueryViewProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  readonly children: (data: T) => ReactNode;
}

/** What was read, or why it is not there. What was read before stays, with a word that it is old. */
export function QueryView<T>({ query, children }: QueryViewProps<T>) {
  const { data, error, refetch } = query;
  return (
    <>
      {error && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined ? children(data) : !error && <Waiting />}
    </>
  );
}
