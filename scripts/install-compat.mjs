// Installs what only the tests need. `npm test` does so itself; `.ci/run` begins with it beside the root's install.
import { installAnvil } from './lib/anvil.mjs';
import { installCompat } from './lib/compat.mjs';
import { installNodes } from './lib/nodes.mjs';

installCompat();
installAnvil();
installNodes();
