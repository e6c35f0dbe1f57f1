import { useCallback, useMemo } from 'react';
import { useInfiniteQuery, type UseInfiniteQueryResult, type InfiniteData } from '@tanstack/react-query';
import type { Page, PageQuery } from '@undolog/client';

const PAGE = 100;

interface Pages<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<T>>>;
  readonly rows: readonly T[];
  /** Reads the next page; undefined at the end of the list. */
  readonly more: (() => void) | undefined;
}

/** A list that is read page after page, as far as the reader goes. */
export function usePages<T>(queryKey: readonly unknown[], read: (query: PageQuery) => Promise<Page<T>>): Pages<T> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read({ limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<T>) => last.next_cursor,
    // What is scrolled past is not read anew; live changes are patched in, and what is new is looked for apart.
    refetchOnWindowFocus: false,
    placeholderData: (before) => before,
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.data) ?? [], [query.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const next = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  return { query, rows, more: hasNextPage ? next : undefined };
}
