import { CustosError } from '@custos/sdk';
import { Command } from 'commander';

/** Longer than any key, so that a wrong file is noticed and not read to its end. */
const TEXT_BYTES_MAX = 1024;

/** `custos chains`: the chains of the settings and the keys that pay for the operator on them. */
export function chainsCommand(): Command {
  return new Command('chains')
    .description(
      'Import the key that pays for the operator on a chain, or list chains. Uses the settings of the service.',
    )
    .addCommand(importKeyCommand())
    .addCommand(listCommand());
}

function importKeyCommand(): Command {
  return new Command('import-key')
    .description(
      "Read the operator's private key of a chain from standard input and put it into the keyring, while the service runs or not. Its address must be operatorAddress of the chain in CUSTOS_CHAINS.",
    )
    .requiredOption('--chain <caip2>', 'the chain, such as eip155:1')
    .action(async ({ chain }: { chain: string }) => {
      // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
      const { importOperatorKey } = await import('@custos/server/admin');
      const { caip2, address, isNew } = await importOperatorKey(process.env, { caip2: chain, readText: readKey });
      process.stdout.write(
        isNew
          ? `imported the operator's key of ${address} on ${caip2}\n`
          : `the operator's key of ${address} on ${caip2} was there already\n`,
      );
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('Print the chains of CUSTOS_CHAINS, who pays for the operator on each, and whether that key is there.')
    .action(async () => {
      const { listChains } = await import('@custos/server/admin');
      const chains = await listChains(process.env);
      const lines = chains.map(({ caip2, nodes, operatorAddress, hasOperatorKey }) => {
        const named = `${caip2}: ${nodes} node${nodes === 1 ? '' : 's'}`;
        if (operatorAddress === undefined) return `${named}, no operator`;
        return `${named}, operator ${operatorAddress}, key ${hasOperatorKey ? 'imported' : 'missing'}`;
      });
      process.stdout.write(`${lines.length === 0 ? 'no chain is configured: set CUSTOS_CHAINS' : lines.join('\n')}\n`);
    });
}

/** All of standard input. Whoever gets it wipes it. */
async function readKey(): Promise<Uint8Array> {
  const { stdin } = process;
  // What is typed there would stay on the screen.
  if (stdin.isTTY)
    throw new CustosError(
      'INVALID_OPTION',
      'give the key on standard input: custos chains import-key --chain … < FILE',
    );
  const text = Buffer.alloc(TEXT_BYTES_MAX);
  let length = 0;
  for await (const part of stdin as AsyncIterable<Buffer>) {
    const isTooLong = length + part.length > TEXT_BYTES_MAX;
    if (!isTooLong) length += part.copy(text, length);
    part.fill(0);
    if (!isTooLong) continue;
    text.fill(0);
    throw new CustosError('INVALID_OPTION', 'what was given on standard input is no private key: it is too long');
  }
  return text.subarray(0, length);
}
