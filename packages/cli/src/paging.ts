import type { Page } from '@undolog/client';

const PAGE = 200;

/** Up to `most` things of a list, page after page. */
export async function collect<T>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page<T>>,
  most: number,
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(PAGE, most - found.length);
    const page: Page<T> = await read({ limit, ...(cursor !== null && { cursor }) });
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null && found.length < most);
  return found;
}
