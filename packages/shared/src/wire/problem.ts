import { z } from 'zod';
import { ERROR_CODES, type ErrorCodeName } from '../domain/error-codes.js';

const codes = Object.keys(ERROR_CODES) as [ErrorCodeName, ...ErrorCodeName[]];

/** Every error: RFC 9457, `application/problem+json`. */
export const problem = z
  .object({
    type: z.string().meta({ description: 'A URN that ends in the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(codes).meta({ description: 'A stable word; the list is in docs/errors.md.' }),
    errors: z
      .array(
        z.object({
          path: z.string().meta({ description: 'JSON pointer into the body or query.' }),
          message: z.string(),
        }),
      )
      .optional(),
    decision: z
      .enum(['refuse', 'undo'])
      .optional()
      .meta({ description: '`refuse`: do not run the tool. `undo`: the effect will be undone.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problem>;
