import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOT_OURS = /^(node_modules|dist|\..*)$/;

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.test(entry.name) ? [] : pagesIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

const pages = pagesIn('');

const LINK = /\]\(([^)\s]+)\)/g;

/** As it stands in the address of a heading. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
}

/** Links of a page that lead nowhere within the repository. */
function deadLinks(page: string, text: string): string[] {
  return [...text.matchAll(LINK)].flatMap(([, link]) => {
    if (/^(https?|mailto):/.test(link!)) return [];
    const [path, anchor] = link!.split('#', 2);
    const target = path ? normalize(join(dirname(page), path)) : page;
    const file = join(ROOT, target);
    if (!existsSync(file)) return [link!];
    if (!anchor || !target.endsWith('.md')) return [];
    return anchorsOf(readFileSync(file, 'utf8')).includes(anchor) ? [] : [link!];
  });
}

describe('a link of the documentation', () => {
  test.each(pages)('%s leads to something that is there', (page) => {
    expect(deadLinks(page, readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
  });

  test('that leads nowhere is found', () => {
    const text = '[a](nobody.ts) [b](README.md#no-such-heading) [c](README.md#license) [d](https://example.com)';
    expect(deadLinks('README.md', text)).toEqual(['nobody.ts', 'README.md#no-such-heading']);
  });
});
