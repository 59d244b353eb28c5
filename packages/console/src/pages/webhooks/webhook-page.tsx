import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Asked } from '../../kit/asked.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConsentDialog } from '../../kit/consent.tsx';
import { Empty } from '../../kit/empty.tsx';
import { HeaderButton } from '../../kit/header-button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Note } from '../../kit/note.tsx';
import { Page, Stack } from '../../kit/page.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithDialog } from '../../kit/same-with.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { useAct } from '../../kit/use-act.ts';
import { cx } from '../../lib/cx.ts';
import { useNarrow } from '../../lib/use-media.ts';
import { DeliveriesCard } from './deliveries-card.tsx';
import { answerInWords, DESCRIBED, type Endpoint } from './delivery-model.ts';
import { DeliveryPanel } from './delivery-panel.tsx';
import { ReplayManyDialog } from './replay-many-dialog.tsx';
import { StatisticsCard } from './statistics-card.tsx';
import styles from './webhooks.module.css';

const PARENT = { label: 'Webhooks', to: '/webhooks' };

export function WebhookPage() {
  const { endpointId } = useParams({ from: '/shell/webhooks/$endpointId' });
  const endpoints = useApi('listWebhookEndpoints', {});
  const endpoint = endpoints.data?.webhookEndpoints.find((one) => one.endpointId === endpointId);
  if (endpoint !== undefined) return <EndpointPage key={endpointId} endpoint={endpoint} />;
  return (
    <Page title="Webhook" parent={PARENT}>
      <Asked query={endpoints}>
        {() => (
          <Empty title="There is no such endpoint" icon="webhook">
            It was deleted, or the address is wrong.
          </Empty>
        )}
      </Asked>
    </Page>
  );
}

function EndpointPage({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, name, url, isActive, includeDescription, subscriptions } = endpoint;
  const [opened, setOpened] = useState<'switch' | 'words' | 'delete' | 'replay' | 'same'>();
  const isDescribable = subscriptions.some(({ eventType }) => eventType === DESCRIBED);
  const [chosen, setChosen] = useState<string>();
  const test = useAct('testWebhookEndpoint');
  const navigate = useNavigate();
  const off = useOffReason();
  const isNarrow = useNarrow();
  const close = (): void => setOpened(undefined);
  const sendTest = async (): Promise<void> => {
    const sent = await test.submit({ endpointId });
    if (sent.state === 'completed') setChosen(sent.result.deliveryId);
  };
  return (
    <Page
      title={<bdi>{name}</bdi>}
      parent={PARENT}
      marks={<StatusMark tone={isActive ? 'allow' : 'plain'}>{isActive ? 'on' : 'off'}</StatusMark>}
      detail={
        <span className={styles.url}>
          <bdi>{url}</bdi>
        </span>
      }
      actions={
        <>
          <HeaderButton
            icon="send"
            label="Send a test"
            busy={test.isBusy && 'Sending…'}
            off={off}
            onClick={() => void sendTest()}
          />
          {!isNarrow && (
            <Button off={off} hideReason onClick={() => setOpened('switch')}>
              {isActive ? 'Switch off' : 'Switch on'}
            </Button>
          )}
          <Menu
            trigger={<IconButton icon="more" label="More" />}
            items={[
              {
                id: 'switch',
                label: isActive ? 'Switch off' : 'Switch on',
                icon: isActive ? 'minus' : 'play',
                off,
                onSelect: () => setOpened('switch'),
              },
              ...(isDescribable
                ? ([
                    {
                      id: 'words',
                      label: includeDescription ? 'Leave out the sentence' : 'Add the sentence',
                      icon: includeDescription ? 'minus' : 'plus',
                      off,
                      onSelect: () => setOpened('words'),
                    },
                  ] as const)
                : []),
              {
                id: 'same',
                label: 'The test as SDK, CLI, curl',
                icon: 'code',
                onSelect: () => setOpened('same'),
              },
              {
                id: 'delete',
                label: 'Delete endpoint',
                icon: 'trash',
                danger: true,
                separated: true,
                off,
                onSelect: () => setOpened('delete'),
              },
            ]}
          />
        </>
      }
    >
      <Stack>
        {test.outcome?.state === 'completed' ? (
          <Note
            tone={test.outcome.result.delivered ? 'allow' : 'deny'}
            role="status"
            title={test.outcome.result.delivered ? 'The test arrived.' : 'The test did not arrive.'}
          >
            The receiver: {answerInWords(test.outcome.result.attempt)}.
          </Note>
        ) : (
          <OutcomeNote outcome={test.outcome} onRepeat={() => void test.repeat()} />
        )}
        <StatisticsCard endpointId={endpointId} />
        <div className={cx(styles.split, chosen !== undefined && styles.open)}>
          <DeliveriesCard
            endpointId={endpointId}
            chosen={chosen}
            onChoose={setChosen}
            onReplayMany={() => setOpened('replay')}
          />
          {chosen !== undefined && (
            <DeliveryPanel
              key={chosen}
              endpointId={endpointId}
              deliveryId={chosen}
              onClose={() => setChosen(undefined)}
            />
          )}
        </div>
      </Stack>
      <ConsentDialog consent={test.consent} act="Send a test" />
      <SameWithDialog
        isOpen={opened === 'same'}
        onClose={close}
        method="testWebhookEndpoint"
        parameters={{ endpointId }}
      />
      {opened === 'replay' && <ReplayManyDialog endpointId={endpointId} onClose={close} />}
      {opened === 'switch' && (
        <ActDialog
          method="updateWebhookEndpoint"
          parameters={{ endpointId, isActive: !isActive }}
          title={
            <>
              Switch <bdi>{name}</bdi> {isActive ? 'off' : 'on'}
            </>
          }
          description={
            isActive
              ? 'New events are not stored for it, so it will never be told of them. What waits stays for three days.'
              : 'What waits is sent at once, and then what happens from now on.'
          }
          act={isActive ? 'Switch off' : 'Switch on'}
          acting="Switching…"
          width="small"
          onClose={close}
        />
      )}
      {opened === 'words' && (
        <ActDialog
          method="updateWebhookEndpoint"
          parameters={{ endpointId, includeDescription: !includeDescription }}
          title={
            includeDescription ? 'Leave out the sentence of activities' : 'Add the sentence to events of activities'
          }
          description={
            includeDescription
              ? 'New events tell the activity as data alone. Those that wait stay as they are.'
              : 'New events also say what each activity does in words, its risk and what approving it means. Those that wait stay as they are.'
          }
          act={includeDescription ? 'Leave it out' : 'Add the sentence'}
          acting="Changing…"
          width="small"
          onClose={close}
        />
      )}
      {opened === 'delete' && (
        <ActDialog
          method="deleteWebhookEndpoint"
          parameters={{ endpointId }}
          title={
            <>
              Delete <bdi>{name}</bdi>
            </>
          }
          description="All its deliveries are deleted with it, also those that wait."
          act="Delete endpoint"
          acting="Deleting…"
          kind="danger"
          width="small"
          onDone={({ state }) => {
            if (state === 'completed') void navigate({ to: '/webhooks' });
          }}
          onClose={close}
        />
      )}
    </Page>
  );
}
