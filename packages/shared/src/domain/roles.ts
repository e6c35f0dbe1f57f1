/** What a key may do. `admin` may do everything in its org. */
export const ROLES = ['agent', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];
