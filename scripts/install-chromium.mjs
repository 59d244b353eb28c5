// Prints the path of a Chromium for the tests, installing one if needed. Fails when there is none.
import { findChromium } from './lib/chromium.mjs';

const chromium = await findChromium();
if (chromium === null) {
  process.stderr.write('No Chromium found, and none can be installed here. Install one or set CHROME_PATH.\n');
  process.exit(1);
}
process.stdout.write(`${chromium}\n`);
