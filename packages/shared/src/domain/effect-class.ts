/** Whether a tool call can be undone: by its compensation, not at all, or without anything to undo. */
export const EFFECT_CLASSES = ['compensable', 'irreversible', 'safe'] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];
