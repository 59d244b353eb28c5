import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';

/** The name or unit of a literal, shown after it. */
export interface Mark {
  readonly end: number;
  readonly text: string;
}

class MarkWidget extends WidgetType {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override eq(other: MarkWidget): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('bdi');
    element.className = 'cm-policy-mark';
    // Names are other people's text.
    element.textContent = this.text;
    return element;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

export const setMarks = StateEffect.define<readonly Mark[]>();

export const marksField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { length } = transaction.state.doc;
      next = Decoration.set(
        effect.value
          .filter(({ end }) => end <= length)
          .map(({ end, text }) => Decoration.widget({ widget: new MarkWidget(text), side: 1 }).range(end)),
        true,
      );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});
