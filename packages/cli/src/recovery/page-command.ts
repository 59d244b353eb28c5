import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CustosError } from '@custos/sdk';
import { writeNewFile } from './new-file.ts';

/** The page, as the build put it beside the program. */
const PAGE = new URL('./recovery.html', import.meta.url);

export function writePage(out: string): { readonly sha256: string; readonly bytes: number } {
  const page = readPage();
  // No secret is in it, and whoever shares the machine may use it too.
  writeNewFile(out, page, 0o644);
  return { sha256: createHash('sha256').update(page).digest('hex'), bytes: page.length };
}

function readPage(): Uint8Array {
  // Programs that were put together are one folder above where their sources were.
  for (const place of [PAGE, new URL('../recovery.html', import.meta.url)]) {
    try {
      return readFileSync(place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new CustosError('INVALID_OPTION', 'the page was not built: run `npm run build`');
}
