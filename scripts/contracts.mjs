// Compiles contracts/ and writes contracts/artifacts/ and packages/server/src/chains/ethereum/contract-artifacts.ts.
// Usage: node scripts/contracts.mjs [--check]   with --check nothing is written, and a difference is a failure.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileContracts } from './lib/solidity.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const EARN = ['EarnWrapper', 'EarnAaveWrapper', 'EarnSplitter'];
const BATCH = ['CustosBatch'];

/** What the service calls, besides all errors and what an ERC-20 token has anyway. */
const USED = {
  EarnWrapper: [
    'asset',
    'convertToAssets',
    'decimals',
    'deposit',
    'pendingFeeShares',
    'performanceFeeRecipient',
    'previewDeposit',
    'redeem',
    'redeemAll',
    'totalAssets',
    'totalFeeBps',
    'vault',
    'withdraw',
    'Deposit',
    'Withdraw',
  ],
  EarnSplitter: ['payees', 'releasable', 'releaseAssets', 'shares', 'AssetsReleased'],
  CustosBatch: ['batchHash', 'invalidateNonce', 'isNonceUsed', 'run', 'runSigned', 'NonceUsed'],
};

const tests = readdirSync(path.join(root, 'contracts', 'test'))
  .filter((file) => file.endsWith('.sol'))
  .sort();
const named = (names) => names.map((name) => `src/${name}.sol`);

// EIP-7702 came two forks after transient storage, so wherever CustosBatch can be borrowed the lock works.
const compiled = {
  ...pick(compileContracts(named(BATCH), { evmVersion: 'cancun' }), BATCH),
  ...pick(compileContracts(named(EARN), { evmVersion: 'shanghai' }), EARN),
};
const helpers =
  tests.length === 0
    ? {}
    : compileContracts(
        tests.map((file) => `test/${file}`),
        { evmVersion: 'shanghai' },
      );

const files = new Map();
for (const [name, contract] of Object.entries(compiled))
  files.set(`contracts/artifacts/${name}.json`, json(name, contract));
for (const [name, contract] of Object.entries(helpers)) {
  if (name.startsWith('Test')) files.set(`contracts/artifacts/test/${name}.json`, json(name, contract));
}
files.set('packages/server/src/chains/ethereum/contract-artifacts.ts', serverModule());

const written = ['contracts/artifacts', 'contracts/artifacts/test'].flatMap((folder) => list(folder));
const stale = [
  ...written.filter((file) => !files.has(file)),
  ...[...files].filter(([file, text]) => read(file) !== text).map(([file]) => file),
];

if (process.argv.includes('--check')) {
  for (const file of stale) process.stderr.write(`${file} is stale: run node scripts/contracts.mjs\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const file of stale) {
    const text = files.get(file);
    const target = path.join(root, file);
    mkdirSync(path.dirname(target), { recursive: true });
    if (text === undefined) rmSync(target);
    else writeFileSync(target, text);
    process.stdout.write(`${text === undefined ? 'removed' : 'wrote'} ${file}\n`);
  }
}

function pick(contracts, names) {
  return Object.fromEntries(names.map((name) => [name, contracts[name]]));
}

function json(contractName, { abi, bytecode }) {
  return `${JSON.stringify({ contractName, abi, bytecode }, null, 1)}\n`;
}

function serverModule() {
  return `// Written by scripts/contracts.mjs from contracts/src. Do not edit.
import { parseAbi } from 'viem';

/** Of EarnWrapper and EarnAaveWrapper alike. */
export const earnWrapperAbi = ${abiText('EarnWrapper')};

export const earnSplitterAbi = ${abiText('EarnSplitter')};

export const custosBatchAbi = ${abiText('CustosBatch')};

/** Without the constructor's arguments: (address vault, uint256 totalFeeBps, address[] payees, uint256[] shares). */
export const earnWrapperBytecode =
  '${compiled.EarnWrapper.bytecode}';

/** Takes the same arguments; the vault is the aToken. */
export const earnAaveWrapperBytecode =
  '${compiled.EarnAaveWrapper.bytecode}';

export const custosBatchBytecode =
  '${compiled.CustosBatch.bytecode}';
`;
}

function abiText(name) {
  const items = compiled[name].abi.filter((item) => item.type === 'error' || USED[name].includes(item.name));
  const absent = USED[name].filter((used) => !items.some((item) => item.name === used));
  if (absent.length > 0) throw new Error(`${name} has no ${absent.join(', ')}`);
  return `parseAbi([\n${items.map((item) => `  '${signature(item)}',\n`).join('')}])`;
}

/** As viem's parseAbi reads it. */
function signature({ type, name, inputs, outputs = [], stateMutability = 'nonpayable' }) {
  const parameters = (items) => `(${items.map(parameter).join(', ')})`;
  const mutability = stateMutability === 'nonpayable' ? '' : ` ${stateMutability}`;
  const returns = outputs.length === 0 ? '' : ` returns ${parameters(outputs)}`;
  return `${type} ${name}${parameters(inputs)}${mutability}${returns}`;
}

function parameter({ type, name, indexed, components }) {
  const written = components ? `(${components.map(parameter).join(', ')})${type.slice('tuple'.length)}` : type;
  return [written, indexed && 'indexed', name].filter(Boolean).join(' ');
}

function list(folder) {
  try {
    return readdirSync(path.join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${folder}/${entry.name}`);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function read(file) {
  try {
    return readFileSync(path.join(root, file), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
