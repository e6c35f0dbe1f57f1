import { z } from 'zod';

const MAX_KEY_CHARS = 200;

export const signInBody = z.strictObject({ api_key: z.string().min(1).max(MAX_KEY_CHARS) });
