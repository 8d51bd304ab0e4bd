// A whole agent in JavaScript (Node.js): always plays the last of the legal actions.
// mrjack tournament --agents random "cmd:node examples/last_action.js"
const lines = require("readline").createInterface({ input: process.stdin });
const answers = {
  hello: () => ({ protocol: 1 }),
  "new game": () => ({ ready: true }),
  observation: (message) => ({ action: message.legal_actions.at(-1) }),
};
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "quit") process.exit();
  console.log(JSON.stringify(answers[message.type](message)));
});
