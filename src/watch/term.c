/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that knows ncurses. */
#include "watch/term.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

#include "watch/keys.h"
#include "watch/term_parts.h"

enum { RESCUE_CAP = 256, ESCAPE_MS = 50 };

static struct {
	bool open, color;
	SCREEN *screen;
	struct termios before;   /* as it was found */
	char rescue[RESCUE_CAP]; /* bytes that leave the alternate screen and show the cursor */
	size_t rescue_len;
} term;

bool term_utf8(void)
{
	return setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* --- open and close ----------------------------------------------------------------------------------------------- */

static void make_colors(void)
{
	static const short colors[STYLE_COUNT] = { [STYLE_GOOD] = COLOR_GREEN,
						   [STYLE_NOTICE] = COLOR_CYAN,
						   [STYLE_WARNING] = COLOR_YELLOW,
						   [STYLE_CRITICAL] = COLOR_RED };
	term.color = term.color && has_colors() && start_color() == OK;
	short back = term.color && use_default_colors() == OK ? -1 : COLOR_BLACK;
	for (short i = 0; term.color && i < STYLE_COUNT; i++)
		if (colors[i])
			(void)init_pair(i, colors[i], back);
}

int term_open(bool color, struct err *err)
{
	int rc = term_look_up(err);
	if (rc < 0)
		return rc;
	(void)tcgetattr(STDIN_FILENO, &term.before);
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen)
		return err_set(err, ERR_UNSUPPORTED, "this terminal cannot be painted on");
	term.open = true;
	term.color = color;
	term.rescue_len = term_way_back(term.rescue, sizeof term.rescue);
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)curs_set(0);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	make_colors();
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	(void)endwin();
	delscreen(term.screen);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	term.open = false;
}

void term_rescue(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	if (!term.open)
		return;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT))
		(void)!write(STDOUT_FILENO, term.rescue, term.rescue_len);
}

void term_stop(void)
{
	struct sigaction ours, usual = { .sa_handler = SIG_DFL };
	sigset_t stop, mask;
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTSTP);
	(void)def_prog_mode();
	(void)endwin();
	/* Its default, not SIGSTOP: a process group that nobody could wake is not stopped (setpgid(2), "orphaned"). */
	(void)sigaction(SIGTSTP, &usual, &ours);
	(void)sigprocmask(SIG_UNBLOCK, &stop, &mask);
	(void)raise(SIGTSTP);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)sigaction(SIGTSTP, &ours, NULL);
	(void)reset_prog_mode();
	term_resized();
}

/* --- size and paint ----------------------------------------------------------------------------------------------- */

void term_size(unsigned *ret_columns, unsigned *ret_rows)
{
	struct winsize size = { 0 };
	bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
	*ret_columns = told ? size.ws_col : 80;
	*ret_rows = told ? size.ws_row : 24;
}

void term_resized(void)
{
	unsigned columns, rows;
	term_size(&columns, &rows);
	(void)resizeterm((int)rows, (int)columns);
	(void)clearok(curscr, TRUE);
}

static void set_style(enum style style)
{
	/* Beside a colour each has a face of its own: some terminals have no colours, and some eyes. */
	static const attr_t faces[STYLE_COUNT] = { [STYLE_BOLD] = A_BOLD,
						   [STYLE_DIM] = A_DIM,
						   [STYLE_NOTICE] = A_BOLD,
						   [STYLE_WARNING] = A_BOLD | A_UNDERLINE,
						   [STYLE_CRITICAL] = A_REVERSE | A_BOLD,
						   [STYLE_BAR] = A_REVERSE,
						   [STYLE_SELECTED] = A_REVERSE };
	bool colored = term.color && style >= STYLE_GOOD && style <= STYLE_CRITICAL;
	attr_t face = colored ? (style == STYLE_GOOD ? A_NORMAL : A_BOLD) : faces[style];
	(void)attr_set(face, colored ? (short)style : 0, NULL);
}

void term_paint(const struct screen *screen)
{
	for (unsigned y = 0; y < screen->rows; y++) {
		(void)move((int)y, 0);
		for (unsigned x = 0; x < screen->columns;) {
			unsigned char style = screen->cells[y][x].style;
			char run[SCREEN_COLUMNS_MAX * 4];
			int len = 0;
			for (; x < screen->columns && screen->cells[y][x].style == style; x++) {
				memcpy(run + len, screen->cells[y][x].text, screen->cells[y][x].len);
				len += screen->cells[y][x].len;
			}
			set_style(style);
			(void)addnstr(run, len);
		}
	}
	(void)refresh();
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

int term_key(void)
{
	static const struct {
		int curses, press;
	} keys[] = { { KEY_UP, PRESS_UP },           { KEY_DOWN, PRESS_DOWN },   { KEY_PPAGE, PRESS_PAGE_UP },
		     { KEY_NPAGE, PRESS_PAGE_DOWN }, { KEY_HOME, PRESS_FIRST },  { KEY_END, PRESS_LAST },
		     { KEY_BTAB, PRESS_BACK_TAB },   { KEY_ENTER, PRESS_ENTER }, { '\r', PRESS_ENTER } };
	int key = getch();
	if (key == ERR)
		return PRESS_NOTHING;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (key == keys[i].curses)
			return keys[i].press;
	return key < KEY_MIN ? key : 0;
}
