import { Link } from '@tanstack/react-router';
import type { Chain } from '../../api/chains.ts';
import { useDescription } from '../../api/descriptions.ts';
import { Address } from '../../kit/address.tsx';
import { Attempts } from '../../kit/attempts.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Note } from '../../kit/note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { Time } from '../../kit/time.tsx';
import { withThousands } from '../../lib/amounts.ts';
import { chainName } from '../../lib/chains.ts';
import { feeText, gasPriceText, isRevert, plainSentence, type Send, stateOf } from './send-model.ts';
import styles from './sends.module.css';

export interface SendDialogProps {
  readonly send: Send;
  readonly chains: readonly Chain[];
  readonly onClose: () => void;
}

/** Everything that is known of one send: attempts, replacements, gas, fee, and why it failed. */
export function SendDialog({ send, chains, onClose }: SendDialogProps) {
  const { tone, text } = stateOf(send, chains);
  const { activityId, error, attempts } = send;
  const description = useDescription(activityId);
  const fee = feeText(send, chains);
  const isOver = send.state === 'INCLUDED' || send.state === 'FAILED';
  return (
    <Dialog
      open
      onClose={onClose}
      title={description ? <Sentence size="inherit" parts={description.sentence} /> : plainSentence(send, chains)}
      footer={
        <div className={styles.footer}>
          <SameWithLink method="listSends" parameters={{ activityId }} />
          <Link to="/activities/$activityId" params={{ activityId }}>
            See the activity
          </Link>
        </div>
      }
    >
      <div className={styles.stack}>
        <div>
          <StatusMark tone={tone} strong>
            {text}
          </StatusMark>
        </div>
        {error !== undefined && (
          <Note tone="deny" title={isRevert(error) ? 'The contract refused it.' : 'It did not go through.'}>
            <bdi>{error}</bdi>.{' '}
            {send.blockNumber === undefined
              ? 'No fee was paid and nothing moved.'
              : 'It moved nothing, but its fee is paid and its nonce is used.'}
          </Note>
        )}
        <Facts>
          <Fact label="Chain">{chainName(send.caip2)}</Fact>
          <Fact label="From">
            <Address address={send.from} shape="decision" copy />
          </Fact>
          {send.to !== undefined && (
            <Fact label="To" note={BigInt(send.value ?? '0') === 0n ? 'the contract that is called' : undefined}>
              <Address address={send.to} shape="decision" copy />
            </Fact>
          )}
          {send.txHash !== undefined && (
            <Fact label="Transaction">
              <Hash value={send.txHash} what="transaction hash" />
            </Fact>
          )}
          {send.blockNumber !== undefined && (
            <Fact label="Block">
              {withThousands(send.blockNumber)}
              {send.blockTime !== undefined && (
                <>
                  , <Time time={send.blockTime} />
                </>
              )}
            </Fact>
          )}
          {send.gasUsed !== undefined && <Fact label="Gas used">{withThousands(send.gasUsed)}</Fact>}
          {fee !== undefined && <Fact label="Fee paid">{send.sponsored ? `${fee}, by the operator` : fee}</Fact>}
          <Fact label="Asked">
            <Time time={send.createdAt} />
          </Fact>
        </Facts>
        <div className={styles.stack}>
          <h3 className={styles.heading}>
            Attempts{' '}
            <Attempts
              attempts={attempts.map(({ replaced }) => ({ succeeded: replaced !== true && send.state === 'INCLUDED' }))}
              hasNext={!isOver && attempts.length === 0}
            />
          </h3>
          {attempts.length === 0 ? (
            <p className={styles.detail}>Nothing was handed to a node {isOver ? '' : 'yet'}.</p>
          ) : (
            <ol className={styles.attempts}>
              {attempts.map(({ txHash, at, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit, replaced }) => (
                <li key={txHash}>
                  <span>
                    <Hash value={txHash} what="transaction hash" /> <Time time={at} />
                    {replaced === true && ', replaced by a later one with a higher fee'}
                  </span>
                  <span className={styles.detail}>
                    {[
                      nonce !== undefined && `nonce ${nonce}`,
                      maxFeePerGas !== undefined && `at most ${gasPriceText(maxFeePerGas)}`,
                      maxPriorityFeePerGas !== undefined && `tip ${gasPriceText(maxPriorityFeePerGas)}`,
                      gasLimit !== undefined && `gas limit ${withThousands(gasLimit)}`,
                    ]
                      .filter(Boolean)
                      .join(' · ')}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </div>
      </div>
    </Dialog>
  );
}
