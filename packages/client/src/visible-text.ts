/**
 * Characters that a terminal acts on instead of showing them: C0 and C1 controls, DEL, and those that turn the direction
 * of writing. In data they come from whoever wrote the data.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what must be found here.
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function escape(character: string): string {
  return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
}

/** The text, with such characters written out. Whatever data is shown has passed here. */
export function visible(text: string): string {
  return text.replaceAll(ACTED_ON, escape);
}
