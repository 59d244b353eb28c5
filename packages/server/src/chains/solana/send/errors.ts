import type { SolanaRefusal, SolanaTransactionDetails } from '../../nodes/node.ts';
import type { SendError } from '../../send/model.ts';

const LOG_LENGTH_MAX = 10_000;

/** A node did not take it: its simulation failed, or it is not well-formed. */
export const refusalError = ({ rpcCode, message, logs, err }: SolanaRefusal): SendError => ({
  message: `the node refused it: ${message}`,
  solana: {
    source: 'rpc',
    rpcCode,
    rpcMessage: message,
    ...(err !== undefined && { transactionErrorJson: JSON.stringify(err) }),
    ...(logs !== undefined && { logs: bounded(logs) }),
  },
});

/** It is in a block, paid its fee, and did nothing. */
export function executionError(err: unknown, details: SolanaTransactionDetails | undefined): SendError {
  const transactionErrorJson = JSON.stringify(err);
  return {
    message: `the transaction failed in its block: ${transactionErrorJson}`,
    solana: {
      source: 'chain',
      transactionErrorJson,
      ...(details && { logs: bounded(details.logs) }),
      ...(details?.unitsConsumed !== undefined && { unitsConsumed: String(details.unitsConsumed) }),
      ...(details?.innerInstructions !== undefined && { innerInstructionsJson: details.innerInstructions }),
    },
  };
}

export const EXPIRED: SendError = {
  message: 'blockhash expired: no block took the transaction while one could',
  solana: { source: 'expiry' },
};

/** The first lines, which tell what was called: programs may write as much as they like. */
function bounded(logs: readonly string[]): string[] {
  let left = LOG_LENGTH_MAX;
  return logs.filter((line) => {
    left -= line.length;
    return left >= 0;
  });
}
