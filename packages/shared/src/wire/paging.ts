import { z } from 'zod';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../domain/limits.js';

const LIMIT_FAULT = `must be a whole number from 1 to ${MAX_PAGE_SIZE}`;

/** What every list takes. Values of a query are text. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, LIMIT_FAULT)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_SIZE, LIMIT_FAULT)
    .default(DEFAULT_PAGE_SIZE)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  cursor: z.string().max(2000).optional().meta({ description: 'The `next_cursor` of the page before.' }),
};

/** One page of a list; `next_cursor` is null on the last one. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() });
}

/** A list that is always whole. */
export function whole<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item) });
}
