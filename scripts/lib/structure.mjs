import path from 'node:path';

/** The server's folders that know no domain, from the bottom up: each may import those before it. */
const KERNEL = [
  'lib',
  'storage',
  'outbound',
  'policy',
  'workers',
  'chains',
  'config',
  'core',
  'fence',
  'describe',
  'admission',
  'authn',
  'engine',
];

/** Which other domains a domain may import. None may be missing here and none may stand here in vain. */
const DOMAIN_IMPORTS = {
  activities: ['users'],
  balances: ['webhooks'],
  deployments: ['wallets'],
  earn: ['sends', 'signing', 'wallets'],
  features: ['earn', 'organizations', 'sign-up-proxy', 'webhooks'],
  login: ['messages', 'users'],
  messages: [],
  'on-ramp': ['wallets'],
  organizations: ['messages', 'policies', 'users', 'wallets'],
  policies: ['users', 'wallets'],
  'recovery-kits': ['wallets'],
  search: ['organizations'],
  secrets: ['wallets'],
  sends: ['signing', 'wallets'],
  'service-status': [],
  'sign-up-proxy': ['login', 'messages', 'organizations', 'users', 'wallets'],
  signing: ['policies', 'wallets'],
  users: [],
  wallets: ['users'],
  webhooks: [],
};

const SOURCE = 'packages/server/src/';
/** Sample requests of a domain's operations: code of tests, which imports what it likes and which no source imports. */
const CASES = /^packages\/server\/src\/domains\/[^/]+\/cases(?:\.ts$|\/)/;
/** The text is not parsed: imports start a line, and a name in braces may fill several. */
const IMPORTS = /^(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;

/**
 * Imports that the rules do not allow, and circles.
 * @param {ReadonlyMap<string, string>} texts The source files, by their path in the repository.
 */
export function findMisplacedImports(texts) {
  const faults = [];
  const graph = new Map();
  for (const [file, text] of texts) {
    if (CASES.test(file)) continue;
    const targets = [];
    for (const [, fixed, late] of text.matchAll(IMPORTS)) {
      const target = path.posix.join(path.posix.dirname(file), fixed ?? late);
      if (!texts.has(target)) continue;
      // Types too: two files that need each other to be read are hard to read.
      if (fixed !== undefined) targets.push(target);
      const fault = misplaced(file, target);
      if (fault !== undefined) faults.push(`${file} imports ${target}: ${fault}`);
    }
    graph.set(file, targets);
  }
  faults.push(...circlesIn(graph).map((circle) => `a circle: ${circle.join(' -> ')}`));
  return faults;
}

/** @param {string} file */
function placeOf(file) {
  const [first, second, third] = file.slice(SOURCE.length).split('/');
  if (second === undefined) return { kind: 'root', folder: 'root', name: first };
  if (first === 'domains') return { kind: 'domain', folder: second, name: third };
  return { kind: KERNEL.includes(first) ? 'kernel' : 'root', folder: first, name: second };
}

/** Why the import is not allowed. */
function misplaced(file, target) {
  // Other packages have no layers, but no circles either.
  if (!file.startsWith(SOURCE)) return undefined;
  const from = placeOf(file);
  const to = placeOf(target);
  if (CASES.test(target)) return 'only tests read cases';
  if (from.kind === 'root') return undefined;
  if (from.folder === to.folder) return undefined;
  if (to.kind === 'root') return `${to.folder} is put together from ${from.folder}, not the other way round`;
  if (from.kind === 'kernel') {
    if (to.kind === 'domain') return `${from.folder} knows no domain`;
    return KERNEL.indexOf(to.folder) < KERNEL.indexOf(from.folder)
      ? undefined
      : `${from.folder} stands below ${to.folder}`;
  }
  if (to.kind === 'kernel') return undefined;
  if (to.name === 'index.ts') return 'only the list of domains imports a manifest';
  return DOMAIN_IMPORTS[from.folder]?.includes(to.folder)
    ? undefined
    : `${from.folder} is not among those that may import ${to.folder}`;
}

/** Each circle once, as the files along it. */
function circlesIn(graph) {
  const circles = [];
  const state = new Map();
  const trail = [];
  const visit = (file) => {
    state.set(file, 'open');
    trail.push(file);
    for (const target of graph.get(file) ?? []) {
      if (state.get(target) === 'open') circles.push([...trail.slice(trail.indexOf(target)), target]);
      else if (!state.has(target)) visit(target);
    }
    trail.pop();
    state.set(file, 'closed');
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return circles;
}
