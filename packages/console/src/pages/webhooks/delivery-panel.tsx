import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Asked } from '../../kit/asked.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Code } from '../../kit/code.tsx';
import { ConsentDialog } from '../../kit/consent.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Note } from '../../kit/note.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import { useAct } from '../../kit/use-act.ts';
import { shortHash } from '../../lib/addresses.ts';
import { count } from '../../lib/amounts.ts';
import { cx } from '../../lib/cx.ts';
import { type Attempt, answerInWords, eventWord, isSuccess, STATES, verdict } from './delivery-model.ts';
import styles from './webhooks.module.css';

type Layer = 'payload' | 'headers' | 'verify';
const LAYERS: readonly { readonly id: Layer; readonly label: string }[] = [
  { id: 'payload', label: 'Payload' },
  { id: 'headers', label: 'Headers' },
  { id: 'verify', label: 'Verify it' },
];

export interface DeliveryPanelProps {
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly onClose: () => void;
}

/** One delivery: every attempt and its answer, and exactly what was sent. */
export function DeliveryPanel({ endpointId, deliveryId, onClose }: DeliveryPanelProps) {
  const query = useApi('getWebhookDelivery', { deliveryId });
  const { submit, repeat, outcome, isBusy, consent } = useAct('replayWebhookDelivery');
  const [layer, setLayer] = useState<Layer>('payload');
  const off = useOffReason();
  const delivery = query.data?.webhookDelivery;
  const activityId = delivery?.eventType === 'ACTIVITY_UPDATES' ? readId(delivery.payload) : undefined;
  const told = useApi('describeActivity', { activityId: activityId ?? '' }, { enabled: activityId !== undefined });
  const parameters = { endpointId, deliveryId };
  return (
    <Card
      title={
        delivery ? (
          <StatusMark tone={STATES[delivery.state].tone} bare strong>
            {`${STATES[delivery.state].word}${delivery.attempts.length > 0 ? ` after ${count(delivery.attempts.length, 'attempt')}` : ''}`}
          </StatusMark>
        ) : (
          'Delivery'
        )
      }
      actions={
        <>
          <Button
            kind="ink"
            icon="refresh"
            busy={isBusy && 'Replaying…'}
            off={off}
            hideReason
            onClick={() => void submit(parameters)}
          >
            Replay
          </Button>
          <IconButton icon="cross" label="Close the delivery" onClick={onClose} />
          <ConsentDialog consent={consent} act="Replay" icon="refresh" />
        </>
      }
    >
      <Asked query={query} rows={4} shape="text">
        {({ webhookDelivery }) => {
          const said = verdict(webhookDelivery);
          return (
            <div className={styles.panel}>
              <OutcomeNote
                outcome={outcome}
                done="It is sent again, with the same event id."
                onRepeat={() => void repeat()}
              />
              {said && (
                <Note tone="wait" title={said.title}>
                  {said.text}
                </Note>
              )}
              <div>
                {told.data ? (
                  <Sentence parts={told.data.description.sentence} size="row" as="p" />
                ) : (
                  <p>{eventWord(webhookDelivery.eventType)}</p>
                )}
                <span className={styles.meta}>
                  <Time time={webhookDelivery.createdAt} shape="exact" />
                </span>
              </div>
              <div>
                <h3 className={styles.heading}>Attempts</h3>
                <ul className={styles.attempts} aria-label="Attempts">
                  {webhookDelivery.attempts.map((attempt) => (
                    <AttemptRow key={attempt.attemptedAt} attempt={attempt} />
                  ))}
                  {webhookDelivery.nextAttemptAt !== undefined && (
                    <li className={styles.quiet}>
                      The next one is due <Time time={webhookDelivery.nextAttemptAt} inRow />.
                    </li>
                  )}
                </ul>
              </div>
              <Tabs label="What was sent" items={LAYERS} value={layer} onChange={setLayer}>
                <div className={styles.tab}>
                  {layer === 'payload' && (
                    <Code
                      text={pretty(webhookDelivery.payload)}
                      language="json"
                      maxHeight={280}
                      copy="Copy the payload"
                    />
                  )}
                  {layer === 'headers' && (
                    <Facts className={styles.headers}>
                      {Object.entries(webhookDelivery.headers).map(([name, value]) => (
                        <Fact key={name} label={name}>
                          <bdi>{value}</bdi>
                        </Fact>
                      ))}
                      {webhookDelivery.headersPerAttempt.map((name) => (
                        <Fact key={name} label={name}>
                          <span className={styles.quiet}>made anew for each attempt</span>
                        </Fact>
                      ))}
                    </Facts>
                  )}
                  {layer === 'verify' && <Code text={VERIFY} language="sdk" copy="Copy the code" />}
                </div>
              </Tabs>
              <div className={styles.foot}>
                <span>
                  {count(new TextEncoder().encode(webhookDelivery.payload).length, 'byte')} · event{' '}
                  {shortHash(webhookDelivery.eventId)}
                </span>
                <span className={styles.tags}>
                  {activityId !== undefined && (
                    <Link to="/activities/$activityId" params={{ activityId }}>
                      Activity
                    </Link>
                  )}
                  <SameWithLink method="replayWebhookDelivery" parameters={parameters} />
                </span>
              </div>
            </div>
          );
        }}
      </Asked>
    </Card>
  );
}

function AttemptRow({ attempt }: { readonly attempt: Attempt }) {
  return (
    <li className={styles.attempt}>
      <span className={cx(styles.dot, isSuccess(attempt) && styles.good)} aria-hidden="true" />
      <span>
        {attempt.status === undefined ? (
          <>
            <b>No answer</b> {attempt.error} after {attempt.latencyMs} ms
          </>
        ) : (
          <>
            <b>{attempt.status}</b>
            {answerInWords(attempt).slice(String(attempt.status).length)}
          </>
        )}
      </span>
      <Time time={attempt.attemptedAt} shape="clock" inRow />
      {attempt.answer !== undefined && attempt.answer !== '' && (
        <div className={styles.answer}>
          <span className={styles.meta}>It answered</span>
          <Code text={pretty(attempt.answer)} language="json" copy={false} maxHeight={160} />
        </div>
      )}
    </li>
  );
}

const VERIFY = `import { createWebhookVerifier } from '@custos/sdk';

const { verify } = createWebhookVerifier({
  jwksUrl: '${location.origin}/public/v1/discovery/webhooks/jwks',
});
// The body as it came: its bytes are what is signed.
const result = await verify({ headers: request.headers, body });
if (!result.ok) return result.reason;`;

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The id of the activity that a payload reports. */
function readId(payload: string): string | undefined {
  try {
    const { id } = JSON.parse(payload) as { id?: unknown };
    return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
