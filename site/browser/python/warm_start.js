// @ts-check
// Starts Python while the reader reads, on pages opened in a tab that has run Python before.

import { Engine } from "./engine.js";

const RAN = "roofline-ran-python"; // in sessionStorage; the buttons' scripts read it
const MIN_MEMORY_GB = 4;
const IDLE_TIMEOUT_MS = 2000;
const FALLBACK_DELAY_MS = 200; // where the browser has no requestIdleCallback

let engine = null;

// Return the page's only engine: the one that warmUp() started, or a new one. After its first run,
// pages opened later in this tab start Python in advance.
export function takeEngine() {
  engine ??= new Engine();
  engine.addEventListener("ran", rememberRun);
  return engine;
}

// Start the page's Python once the page is visible and the browser idle, unless a click has started
// it. Resolve with false on a device with little memory or a data saver.
export async function warmUp() {
  const { connection, deviceMemory } = navigator;
  if (connection?.saveData || deviceMemory < MIN_MEMORY_GB) return false;
  await pageLoaded();
  do {
    await pageVisible();
    await browserIdle();
  } while (document.hidden);
  engine ??= new Engine();
  engine.preload().catch(() => {}); // the next run starts Python again, and reports a failure
  return true;
}

function rememberRun() {
  try {
    sessionStorage.setItem(RAN, "1");
  } catch {
    // Storage is disabled: each page starts Python when a button is pressed.
  }
}

const pageLoaded = () =>
  new Promise((resolve) => {
    if (document.readyState === "complete") resolve();
    else window.addEventListener("load", resolve, { once: true });
  });

const pageVisible = () =>
  new Promise((resolve) => {
    if (!document.hidden) return resolve();
    const onChange = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", onChange);
      resolve();
    };
    return document.addEventListener("visibilitychange", onChange);
  });

const browserIdle = () =>
  new Promise((resolve) => {
    if (window.requestIdleCallback) requestIdleCallback(resolve, { timeout: IDLE_TIMEOUT_MS });
    else setTimeout(resolve, FALLBACK_DELAY_MS);
  });
