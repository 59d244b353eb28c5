// Compiles our contracts with the solc that compat/ pins. Nothing is fetched: imports come from compat/node_modules.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = path.join(root, 'compat', 'node_modules');
const loadFromCompat = createRequire(path.join(root, 'compat', 'package.json'));

/** 2394 reminds everyone who writes transient storage to clear it, and the lock of CustosBatch does. */
const EXPECTED_WARNINGS = new Set(['2394']);

/**
 * @param {readonly string[]} files below contracts/
 * @param {{ evmVersion: string }} settings
 * @returns {Record<string, { abi: unknown[], bytecode: string }>} by the name of the contract
 */
export function compileContracts(files, settings) {
  const solc = loadFromCompat('solc');
  const sources = Object.fromEntries(
    files.map((file) => [`contracts/${file}`, { content: readFileSync(path.join(root, 'contracts', file), 'utf8') }]),
  );
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      evmVersion: settings.evmVersion,
      optimizer: { enabled: true, runs: 200 },
      // Without the hash of the sources' metadata, a comment does not change an address.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: Object.fromEntries(
        Object.keys(sources).map((file) => [file, { '*': ['abi', 'evm.bytecode.object'] }]),
      ),
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  const problems = (output.errors ?? []).filter(({ errorCode }) => !EXPECTED_WARNINGS.has(errorCode));
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  const contracts = {};
  for (const found of Object.values(output.contracts)) {
    for (const [name, { abi, evm }] of Object.entries(found)) {
      if (evm.bytecode.object) contracts[name] = { abi, bytecode: `0x${evm.bytecode.object}` };
    }
  }
  return contracts;
}

function readImport(name) {
  const file = name.startsWith('contracts/') ? path.join(root, name) : path.join(packages, name);
  try {
    return { contents: readFileSync(file, 'utf8') };
  } catch (error) {
    return { error: error.message };
  }
}
