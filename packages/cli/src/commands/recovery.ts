import { Command } from 'commander';

interface OpenFlags {
  readonly identity?: string[];
  readonly json?: boolean;
  readonly addresses?: boolean;
  readonly privateKeys?: boolean;
  readonly yes?: boolean;
}

/** `custos recovery`: what a recovery kit is for, without any service. */
export function recoveryCommand(): Command {
  return new Command('recovery')
    .description('Open recovery kits. Needs no service, database or settings, and no network.')
    .addCommand(openCommand())
    .addCommand(pageCommand());
}

function openCommand(): Command {
  return new Command('open')
    .description(
      'Show the words and keys of a recovery kit with their addresses, each of which is computed again. Exit code 1 if one differs.',
    )
    .argument('<file>', 'the kit, or what `age -d` made of it')
    .option('--identity <file>', 'file with an age identity that opens the kit; may be given several times', collect)
    .option('--addresses', 'show and compare the addresses only, and no secret')
    .option('--private-keys', "show each account's own private key too, as wallets of its chain take it")
    .option('--json', 'print one JSON document')
    .option('--yes', 'show secrets on a terminal, or write them to a file that others can read, without asking')
    .allowExcessArguments(false)
    .action(async (file: string, flags: OpenFlags) => {
      // Loaded here: other commands need no curves and no age.
      const { openKit } = await import('../recovery/open-command.ts');
      process.exitCode = await openKit(file, flags);
    });
}

function pageCommand(): Command {
  return new Command('page')
    .description(
      'Write the page that opens recovery kits in a browser: one file, for a machine without a network. Keep it beside the kit.',
    )
    .requiredOption('--out <file>', 'where to write it')
    .allowExcessArguments(false)
    .action(async ({ out }: { out: string }) => {
      const { writePage } = await import('../recovery/page-command.ts');
      const { sha256, bytes } = writePage(out);
      process.stdout.write(`wrote ${out}: ${bytes} bytes, SHA-256 ${sha256}\n`);
    });
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];
