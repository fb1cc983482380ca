// A list of primitive actions by Puppeteer, as ATTACKS names them.
import { appendFileSync, readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.connect({ browserURL: process.env.REPLAYKIT_CDP_URL, defaultViewport: null });
const [page] = await browser.pages();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const DO = {
  click: (css) => page.click(css),
  evaluate: (script) => page.evaluate(script),
  fill: (css, text) => page.locator(css).fill(text),
  type: (text) => page.keyboard.type(text),
  press: (key) => page.keyboard.press(key),
  drag: async (from, to) => {
    const [a, b] = [await (await page.$(from)).clickablePoint(), await (await page.$(to)).clickablePoint()];
    await page.mouse.move(a.x, a.y); await page.mouse.down();
    await page.mouse.move(b.x, b.y, { steps: 3 }); await page.mouse.up();
  },
  prompt: async (text) => page.once("dialog", (dialog) => dialog.accept(text)),
  arrive: async (path) => { while (new URL(page.url()).pathname !== path) await sleep(20); },
  poll: (path) => page.waitForFunction((path) => location.pathname === path, {}, path),
  sleep, goto: (url) => page.goto(url), back: () => page.goBack(), forward: () => page.goForward(), reload: () => page.reload(),
};
for (const [name, ...rest] of JSON.parse(readFileSync(process.env.ATTACKS))) await DO[name](...rest);
await sleep(300);
appendFileSync(process.env.REPLAYKIT_EVENTS, JSON.stringify({ type: "answer", text: "done", t: Date.now() }) + "\n");
await browser.disconnect();
