// Runs the rule of the recorder's page on snapshots: one a line in, one answer a line out.
const { readFileSync } = require('node:fs');
const [folder] = process.argv.slice(2);
const source = ['rendered_text.js', 'text_rows.js'].map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n');
const { composed, joinedItems, editsOf } = new Function(
  'MASKED', `'use strict';\n${source}\nreturn { composed, joinedItems, editsOf };`,
)('⟦masked⟧');

function composeAll({ tokens, style, styles, cut }) {
  const page = composed(tokens, style, styles, cut);
  const texts = page.state.map((_, number) => joinedItems(page.items[number], page.start[number], page.end[number]));
  return { state: page.state, texts };
}

const answer = (asked) => (Array.isArray(asked) ? editsOf(...asked) : composeAll(asked));
const lines = readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
process.stdout.write(lines.map((line) => `${JSON.stringify(answer(JSON.parse(line)))}\n`).join(''));
