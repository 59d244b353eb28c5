// Finds the browser for the tests, and installs Debian's where that is possible without asking anyone.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { installFromDebian } from './debian.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin'];

const isExecutable = (file) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

async function findInstalled() {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute), ...FOLDERS];
  for (const name of NAMES) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      if (await isExecutable(file)) return file;
    }
  }
  return null;
}

/** The path of a Chromium, installed on the spot on Debian as root, or null. */
export async function findChromium() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (await isExecutable(named)) return named;
    throw new Error(`CHROME_PATH names ${named}, which cannot be executed`);
  }
  const installed = await findInstalled();
  // With the typeface that the console is drawn for: without it pages are wider than anybody sees them.
  if (installed || !installFromDebian('chromium', 'fonts-liberation')) return installed;
  return findInstalled();
}

/** As findChromium, but with CI=true a missing browser is an error, because there nothing may be skipped silently. */
export async function requireChromium() {
  const chromium = await findChromium();
  if (chromium === null && process.env.CI === 'true') {
    throw new Error('CI=true needs Chromium: set CHROME_PATH or install the chromium package');
  }
  return chromium;
}
