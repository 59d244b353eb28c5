import { useRef } from 'react';
import type { ParametersOf } from '../../api/use-api.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { Checkbox, TextArea, TextField } from '../../kit/field.tsx';
import { fieldProblem } from '../../kit/problem-note.tsx';
import { DESCRIBED, EVENTS, type EventType } from './delivery-model.ts';
import styles from './webhooks.module.css';

interface Draft {
  readonly url: string;
  readonly name: string;
  readonly events: readonly EventType[];
  readonly filters: Readonly<Partial<Record<EventType, string>>>;
  readonly includeDescription: boolean;
}
const INITIAL: Draft = { url: '', name: '', events: ['ACTIVITY_UPDATES'], filters: {}, includeDescription: false };

function filterError(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? undefined : 'A JSON object of names and lists of values.';
  } catch {
    return 'This is no JSON yet.';
  }
}

export function CreateEndpointDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft<Draft>('create-webhook', INITIAL);
  const field = useRef<HTMLInputElement>(null);
  const [url, name] = [value.url.trim(), value.name.trim()];
  const wrong = value.events.some((type) => filterError(value.filters[type] ?? '') !== undefined);
  const parameters: ParametersOf<'createWebhookEndpoint'> = {
    url,
    name,
    subscriptions: value.events.map((eventType) => {
      const filtersJson = value.filters[eventType]?.trim();
      return { eventType, isActive: true, ...(filtersJson && { filtersJson }) };
    }),
    ...(value.includeDescription && value.events.includes(DESCRIBED) && { includeDescription: true }),
  };
  return (
    <ActDialog
      method="createWebhookEndpoint"
      parameters={parameters}
      title="Create an endpoint"
      description="The service posts events to it, signed, at least once each, and tries again for three days."
      act="Create endpoint"
      acting="Creating…"
      initialFocus={field}
      off={
        !/^https?:\/\/\S+$/.test(url)
          ? 'Type a URL.'
          : name === ''
            ? 'Give it a name.'
            : wrong && 'Mend the filter first.'
      }
      onDone={discard}
      onClose={onClose}
    >
      {(outcome) => (
        <>
          <TextField
            ref={field}
            label="URL"
            mono
            placeholder="https://ledger.example/custos"
            value={value.url}
            onChange={(next) => set({ url: next })}
            error={fieldProblem(outcome, 'url')}
          />
          <TextField
            label="Name"
            value={value.name}
            onChange={(next) => set({ name: next })}
            maxLength={255}
            error={fieldProblem(outcome, 'name')}
          />
          <fieldset className={styles.pick}>
            <legend className={styles.legend}>Events</legend>
            {EVENTS.map(({ type, label, help }) => {
              const isChosen = value.events.includes(type);
              return (
                <div key={type}>
                  <Checkbox
                    label={label}
                    help={help}
                    checked={isChosen}
                    onChange={(next) =>
                      set({ events: next ? [...value.events, type] : value.events.filter((other) => other !== type) })
                    }
                  />
                  {isChosen && (
                    <div className={styles.filter}>
                      <TextArea
                        label="Filter"
                        hint={`of ${label.toLowerCase()}, as JSON; empty lets all pass`}
                        mono
                        rows={2}
                        placeholder={'{ "statuses": ["ACTIVITY_STATUS_COMPLETED"] }'}
                        value={value.filters[type] ?? ''}
                        onChange={(text) => set({ filters: { ...value.filters, [type]: text } })}
                        error={filterError(value.filters[type] ?? '')}
                      />
                      {type === DESCRIBED && (
                        <Checkbox
                          label="Add the sentence to events of activities"
                          help="What each one does in words, its risk and what approving it means."
                          checked={value.includeDescription}
                          onChange={(includeDescription) => set({ includeDescription })}
                        />
                      )}
                    </div>
                  )}
                </div>
              );
            })}
          </fieldset>
        </>
      )}
    </ActDialog>
  );
}
