import type { CheckedKit } from '../recovery/check-kit.ts';
import { announce, announcer } from './dom.ts';
import { kitView } from './kit-view.ts';
import { openForm } from './open-form.ts';

// The page that opens recovery kits: one file that works from a disk, without a network (docs/guides/recovery-kit.md).

const root = document.getElementById('root') as HTMLElement;

function showForm(): void {
  root.replaceChildren(announcer, openForm(showKit));
  document.title = 'Open a recovery kit';
}

function showKit(kit: CheckedKit): void {
  // Closing builds the page anew: nothing of the kit is left in it.
  root.replaceChildren(announcer, kitView(kit, showForm));
  document.title = 'Recovery kit';
  root.querySelector('h1')?.focus();
  announce('The kit is open.');
}

// A file that misses its place must not replace the page.
for (const name of ['dragover', 'drop'] as const) addEventListener(name, (event) => event.preventDefault());
showForm();
