/** Why a session ended without success. */
export const FAILURE_KINDS = ['reported', 'lease_expired', 'cancelled', 'parent'] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** What an unwind does at an undo that broke: leave what is below it to a person, or go on past it. */
export const FAILURE_POLICIES = ['halt', 'continue'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];
