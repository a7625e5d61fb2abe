/* Rules of the package's games, written from their descriptions alone and on plain arrays.

   Nothing here is fast, clever or taken from lib/: a line is found by walking along it, a chain by
   flood fill, a repeated position by looking at all earlier ones. `differs` reads the log that the
   library wrote of its random games (see rules.py), plays them again, and says where both differ. */

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 400, ACTIONS = 20000, PLIES = 10000, GIVEN_UP = -2 };

static int set[8];                   /* the settings of the game, in the order of GAMES */
static int players, mover, over;
static int at[CELLS];                /* what stands on the cells; who plays is counted from 1 */
static double reward[4];
static int n_moves, move_list[ACTIONS];

static void may(int action) { move_list[n_moves++] = action; }
static void next_player(void) { mover = (mover + 1) % players; }

static void wins(int who) {          /* all for one player */
    over = 1;
    for (int p = 0; p < players; p++)
        reward[p] = p == who ? 1 : players == 2 ? -1 : 0;
}
static void draw(void) {
    over = 1;
    for (int p = 0; p < players; p++)
        reward[p] = players == 2 ? 0 : 1.0 / players;
}
static void best_win(const int *points) {  /* those with most points share what there is to win */
    int best = 0, number = 0;
    for (int p = 0; p < players; p++)
        if (points[p] > best) best = points[p];
    for (int p = 0; p < players; p++) number += points[p] == best;
    over = 1;
    for (int p = 0; p < players; p++) {
        double part = points[p] == best ? 1.0 / number : 0;
        reward[p] = players == 2 ? 2 * part - 1 : part;
    }
}

/* ------------------------------------------------ rows x columns, k in a line: rows, columns, k */
static int in_line(int row, int column, int k) {
    static const int way[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    int rows = set[0], columns = set[1], who = at[columns * row + column];
    for (int w = 0; w < 4; w++) {
        int length = 1;
        for (int sign = -1; sign <= 1; sign += 2) {
            int r = row + sign * way[w][0], c = column + sign * way[w][1];
            while (r >= 0 && r < rows && c >= 0 && c < columns && at[columns * r + c] == who) {
                length++, r += sign * way[w][0], c += sign * way[w][1];
            }
        }
        if (length >= k) return 1;
    }
    return 0;
}
static int full(void) {
    for (int c = 0; c < set[0] * set[1]; c++)
        if (!at[c]) return 0;
    return 1;
}
static void put(int row, int column) {
    at[set[1] * row + column] = mover + 1;
    if (in_line(row, column, set[2])) wins(mover);
    else if (full()) draw();
    next_player();
}
static void nothing(void) {}

static void mnk_legal(void) {
    for (int c = 0; c < set[0] * set[1]; c++)
        if (!at[c]) may(c);
}
static void mnk_play(int action) { put(action / set[1], action % set[1]); }
static void mnk_show(double *shown) {  /* 0 = second, 1 = empty, 2 = first, then the others */
    static const int code[5] = {1, 2, 0, 3, 4};
    for (int c = 0; c < set[0] * set[1]; c++) shown[c] = code[at[c]];
}

static int height(int column) {      /* stones in a column; row 0 is below */
    int h = 0;
    while (h < set[0] && at[set[1] * h + column]) h++;
    return h;
}
static void drop_legal(void) {
    for (int c = 0; c < set[1]; c++)
        if (height(c) < set[0]) may(c);
}
static void drop_play(int action) { put(height(action), action); }
static void drop_show(double *shown) {
    for (int c = 0; c < set[1]; c++) {
        for (int r = 0; r < set[0]; r++) shown[set[0] * c + r] = at[set[1] * r + c];
        if (height(c) < set[0]) shown[set[0] * c + height(c)] = players + 1;
    }
}

/* ------------------------------------ Nim: heaps, stones, take, whether the last one wins (misere:
   not), and the reward of the second after the last one, in tenths */
static void nim_start(void) {
    for (int h = 0; h < set[0]; h++) at[h] = set[1];
}
static void nim_legal(void) {
    for (int h = 0; h < set[0]; h++)
        for (int t = 1; t <= set[2] && t <= at[h]; t++) may(h * set[2] + t - 1);
}
static void nim_play(int action) {
    at[action / set[2]] -= action % set[2] + 1;
    int left = 0;
    for (int h = 0; h < set[0]; h++) left += at[h];
    if (!left && players == 2) wins(set[3] ? mover : 1 - mover);
    if (!left && players == 3) {
        over = 1;
        reward[mover] = 0;
        reward[(mover + 1) % 3] = 1;
        reward[(mover + 2) % 3] = set[4] / 10.0;
    }
    next_player();
}
static void nim_show(double *shown) {
    for (int h = 0; h < set[0]; h++) shown[h] = at[h];
}

/* --------------------------- Kalah: houses, seeds, empty capture, margin; places counter-clockwise */
static int house_sum(int who) {
    int sum = 0;
    for (int i = 0; i < set[0]; i++) sum += at[who * (set[0] + 1) + i];
    return sum;
}
static void kalah_start(void) {
    for (int i = 0; i < set[0]; i++) at[i] = at[set[0] + 1 + i] = set[1];
}
static void kalah_legal(void) {
    for (int i = 0; i < set[0]; i++)
        if (at[mover * (set[0] + 1) + i]) may(i);
}
static void kalah_play(int action) {
    int h = set[0], around = 2 * h + 2, place = mover * (h + 1) + action;
    int store = mover * (h + 1) + h, other = (1 - mover) * (h + 1) + h;
    int seeds = at[place];
    at[place] = 0;
    while (seeds) {
        place = (place + 1) % around;
        if (place == other) continue;
        at[place]++, seeds--;
    }
    int again = place == store;
    if (!again && place / (h + 1) == mover && at[place] == 1) {
        int opposite = 2 * h - place;
        if (at[opposite] || set[2]) {
            at[store] += at[place] + at[opposite];
            at[place] = at[opposite] = 0;
        }
    }
    over = !house_sum(0) || !house_sum(1);
    int lead = at[h] - at[2 * h + 1];
    if (over) lead += house_sum(0) - house_sum(1);  /* they are their owner's, and stay there */
    if (set[3]) reward[0] = lead;
    else if (over) reward[0] = (lead > 0) - (lead < 0);
    reward[1] = -reward[0];
    if (!again) next_player();
}
static void kalah_show(double *shown) {
    int h = set[0];
    for (int i = 0; i < h; i++) shown[i] = at[i], shown[h + i] = at[h + 1 + i];
    if (!set[3]) shown[2 * h] = at[h], shown[2 * h + 1] = at[2 * h + 1];
}

/* ------------------------------------------------------------------------------- Hex: size, swap */
static int stones, swapped;
static void hex_start(void) { stones = swapped = 0; }
static void hex_legal(void) {
    for (int c = 0; c < set[0] * set[0]; c++)
        if (!at[c]) may(c);
    if (set[1] && stones == 1 && !swapped) may(set[0] * set[0]);
}
static int hex_joined(int who) {
    static const int near[6][2] = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};
    int size = set[0], seen[CELLS] = {0}, stack[CELLS], n = 0;
    for (int i = 0; i < size; i++) {
        int cell = who ? i : size * i;   /* the first column, or the first row */
        if (at[cell] == who + 1) seen[cell] = 1, stack[n++] = cell;
    }
    while (n) {
        int cell = stack[--n], row = cell / size, column = cell % size;
        if ((who ? row : column) == size - 1) return 1;
        for (int d = 0; d < 6; d++) {
            int r = row + near[d][0], c = column + near[d][1];
            if (r < 0 || c < 0 || r >= size || c >= size) continue;
            if (at[size * r + c] == who + 1 && !seen[size * r + c])
                seen[size * r + c] = 1, stack[n++] = size * r + c;
        }
    }
    return 0;
}
static void hex_play(int action) {
    int size = set[0];
    if (action == size * size) {
        int cell = 0;
        while (!at[cell]) cell++;
        at[cell] = 0;
        at[size * (cell % size) + cell / size] = 2;
        swapped = 1;
    } else {
        at[action] = mover + 1;
        stones++;
    }
    if (hex_joined(mover)) wins(mover);
    next_player();
}
static void hex_show(double *shown) {
    for (int c = 0; c < set[0] * set[0]; c++) shown[c] = at[c];
}

/* -------------------------------------------------------------------- Dots and Boxes: rows, columns */
static int boxes[4];
static void dots_start(void) { memset(boxes, 0, sizeof boxes); }
static int dots_lines(void) { return set[0] * (set[1] + 1) + set[1] * (set[0] + 1); }
static void dots_legal(void) {
    for (int k = 0; k < dots_lines(); k++)
        if (!at[k]) may(k);
}
static int box_closed(int r, int c) {
    int band = 2 * set[1] + 1, above = band * r + c, left = above + set[1];
    return at[above] && at[left] && at[left + 1] && at[above + band];
}
static int all_closed(void) {
    int n = 0;
    for (int r = 0; r < set[0]; r++)
        for (int c = 0; c < set[1]; c++) n += box_closed(r, c);
    return n;
}
static void dots_play(int action) {
    int before = all_closed();
    at[action] = 1;
    int made = all_closed() - before;
    boxes[mover] += made;
    if (all_closed() == set[0] * set[1]) best_win(boxes);
    if (!made) next_player();
}
static void dots_show(double *shown) {
    for (int k = 0; k < dots_lines(); k++) shown[k] = at[k];
    for (int p = 0; p < players; p++) shown[dots_lines() + p] = boxes[p];
}

/* -------------------------------------------------------------------------------- Othello: side */
static int flips(int cell, int who, int turn_them) {  /* stones that a new one of `who` flips */
    int side = set[0], sum = 0;
    if (at[cell]) return 0;
    for (int down = -1; down <= 1; down++)
        for (int right = -1; right <= 1; right++) {
            if (!down && !right) continue;
            int r = cell / side + down, c = cell % side + right, n = 0;
            while (r >= 0 && c >= 0 && r < side && c < side && at[side * r + c] == 2 - who)
                r += down, c += right, n++;
            if (r < 0 || c < 0 || r >= side || c >= side || at[side * r + c] != who + 1) continue;
            sum += n;
            while (turn_them && n--) r -= down, c -= right, at[side * r + c] = who + 1;
        }
    return sum;
}
static int can_move(int who) {
    for (int c = 0; c < set[0] * set[0]; c++)
        if (flips(c, who, 0)) return 1;
    return 0;
}
static void othello_start(void) {
    int side = set[0], a = side / 2 - 1;
    at[side * a + a] = at[side * (a + 1) + a + 1] = 2;
    at[side * a + a + 1] = at[side * (a + 1) + a] = 1;
}
static void othello_legal(void) {
    for (int c = 0; c < set[0] * set[0]; c++)
        if (flips(c, mover, 0)) may(c);
}
static void othello_play(int action) {
    flips(action, mover, 1);
    at[action] = mover + 1;
    if (can_move(1 - mover)) next_player();
    else if (!can_move(mover)) {
        int lead = 0;
        for (int c = 0; c < set[0] * set[0]; c++) lead += (at[c] == 1) - (at[c] == 2);
        over = 1;
        reward[0] = (lead > 0) - (lead < 0);
        reward[1] = -reward[0];
    }
}
static void othello_show(double *shown) {
    for (int c = 0; c < set[0] * set[0]; c++)
        shown[c] = at[c] ? at[c] - 1 : !over && flips(c, mover, 0) ? 3 : 2;
}

/* --------------------------------------------------- draws: positions, quiet plies, plies in all */
static int plies, quiet, history_length;
static signed char history[PLIES][34];
static void note_position(const int *position, int n) {
    for (int i = 0; i < n; i++) history[history_length][i] = position[i];
    history[history_length++][n] = mover;
}
static int occurrences(int n) {
    int number = 0;
    for (int i = 0; i < history_length; i++)
        number += !memcmp(history[i], history[history_length - 1], n + 1);
    return number;
}
static int is_drawn(int n, int times, int most_quiet, int most_plies) {
    return (times && occurrences(n) >= times) || (most_quiet && quiet >= most_quiet)
        || (most_plies && plies >= most_plies);
}

/* ------------------------- checkers: misere, times, quiet plies, plies; 1, 2 = White's man, king */
static int going_on;                 /* the square from which a jump must go on, or -1 */
static int square_at(int row, int column) {
    if (row < 0 || column < 0 || row > 7 || column > 7) return -1;
    return 4 * row + column / 2;     /* only dark ones are asked for */
}
static int beside(int square, int direction, int distance) {
    int row = square / 4, column = 2 * (square % 4) + (row % 2 == 0);
    return square_at(row + (direction < 2 ? -distance : distance),
                     column + (direction % 2 ? distance : -distance));
}
static int owner(int square) { return at[square] ? (at[square] - 1) / 2 : -1; }
static int heads(int square, int direction) {  /* White's men go up, Black's down, kings both ways */
    return at[square] % 2 == 0 || (direction < 2) == (owner(square) == 0);
}
static int can_jump(int square, int direction) {
    int over_it = beside(square, direction, 1), to = beside(square, direction, 2);
    return heads(square, direction) && to >= 0 && !at[to] && owner(over_it) == 1 - owner(square);
}
static int can_jump_at_all(int square) {
    return can_jump(square, 0) || can_jump(square, 1) || can_jump(square, 2) || can_jump(square, 3);
}
static void checkers_start(void) {
    for (int q = 0; q < 12; q++) at[q] = 3, at[31 - q] = 1;
    going_on = -1;
    note_position(at, 32);
}
static void checkers_legal(void) {
    int must = 0;
    for (int q = 0; q < 32; q++) must |= owner(q) == mover && can_jump_at_all(q);
    for (int q = 0; q < 32; q++) {
        if (owner(q) != mover || (going_on >= 0 && q != going_on)) continue;
        for (int d = 0; d < 4; d++) {
            int to = beside(q, d, 1);
            if (must ? can_jump(q, d) : heads(q, d) && to >= 0 && !at[to]) may(4 * q + d);
        }
    }
}
static void checkers_play(int action) {
    int from = action / 4, d = action % 4, jumps = can_jump(from, d);
    int to = beside(from, d, jumps ? 2 : 1), man = at[from] % 2, crowned = 0;
    at[to] = at[from], at[from] = 0;
    if (jumps) at[beside(from, d, 1)] = 0;
    if (man && to / 4 == (mover ? 7 : 0)) at[to]++, crowned = 1;
    quiet = jumps || man ? 0 : quiet;
    going_on = jumps && !crowned && can_jump_at_all(to) ? to : -1;
    if (going_on >= 0) return;
    plies++;
    if (!jumps && !man) quiet++;
    int last = mover;
    next_player();
    note_position(at, 32);
    n_moves = 0;
    checkers_legal();
    if (!n_moves) wins(set[0] ? mover : last);
    else if (is_drawn(32, set[1], set[2], set[3])) draw();
}
static void checkers_show(double *shown) {
    for (int q = 0; q < 32; q++) shown[q] = at[q];
    shown[32] = going_on >= 0;
}

/* ------------- Morris: men, lines, flying, flying captures, pass, times, quiet plies, plies in all */
static int hand[2], n_lines, points, line[16][3], joined_to[24][24];
static void add_line(int a, int b, int c) {
    line[n_lines][0] = a, line[n_lines][1] = b, line[n_lines++][2] = c;
    joined_to[a][b] = joined_to[b][a] = joined_to[b][c] = joined_to[c][b] = 1;
}
static int men_of(int who) {
    int n = 0;
    for (int p = 0; p < points; p++) n += at[p] == who + 1;
    return n;
}
static void morris_start(void) {
    int men = set[0], rings = men == 9 ? 3 : 2;
    memset(joined_to, 0, sizeof joined_to);
    n_lines = 0;
    if (men == 3) {
        points = 9;
        for (int i = 0; i < 3; i++) add_line(3 * i, 3 * i + 1, 3 * i + 2), add_line(i, i + 3, i + 6);
        if (set[1] == 8) add_line(0, 4, 8), add_line(2, 4, 6);
    } else {
        points = 8 * rings;
        for (int r = 0; r < rings; r++)
            for (int i = 0; i < 8; i += 2) add_line(8 * r + i, 8 * r + i + 1, 8 * r + (i + 2) % 8);
        for (int i = 1; i < 8; i += 2) {
            if (rings == 3) add_line(i, 8 + i, 16 + i);
            else joined_to[i][8 + i] = joined_to[8 + i][i] = 1;
        }
    }
    hand[0] = hand[1] = men;
}
static int in_mill(int point) {
    for (int l = 0; l < n_lines; l++) {
        int on = line[l][0] == point || line[l][1] == point || line[l][2] == point;
        if (on && at[line[l][0]] == at[point] && at[line[l][1]] == at[point]
            && at[line[l][2]] == at[point]) return 1;
    }
    return 0;
}
static int flies(int who) { return set[2] && !hand[who] && men_of(who) == 3; }
static void morris_moves(int from, int to) {
    int kept = from < 0 ? 0 : at[from], mill;
    int flying = from >= 0 && flies(mover);
    if (from >= 0) at[from] = 0;
    at[to] = mover + 1;
    mill = in_mill(to) && (set[0] == 3 || !flying || set[3]);
    int base = ((from + 1) * points + to) * (points + 1), outside = 0;
    if (!mill || set[0] == 3) may(base);
    else {
        for (int p = 0; p < points; p++) outside += at[p] == 2 - mover && !in_mill(p);
        for (int p = 0; p < points; p++)
            if (at[p] == 2 - mover && (!outside || !in_mill(p))) may(base + p + 1);
    }
    at[to] = 0;
    if (from >= 0) at[from] = kept;
}
static void morris_legal(void) {
    for (int from = hand[mover] ? -1 : 0; from < (hand[mover] ? 0 : points); from++) {
        if (from >= 0 && at[from] != mover + 1) continue;
        for (int to = 0; to < points; to++)
            if (!at[to] && (from < 0 || flies(mover) || joined_to[from][to])) morris_moves(from, to);
    }
    if (!n_moves && set[4]) may((points + 1) * points * (points + 1));
}
static void morris_play(int action) {
    int last = mover, pass = action == (points + 1) * points * (points + 1);
    int removed = action % (points + 1) - 1, to = action / (points + 1) % points;
    int from = action / (points + 1) / points - 1;
    if (!pass) {
        if (from < 0) hand[mover]--;
        else at[from] = 0;
        at[to] = mover + 1;
        if (removed >= 0) at[removed] = 0;
    }
    plies++, quiet = !pass && removed >= 0 ? 0 : quiet + 1;
    next_player();
    int position[26];
    for (int p = 0; p < points; p++) position[p] = at[p];
    position[points] = hand[0], position[points + 1] = hand[1];
    note_position(position, points + 2);
    n_moves = 0;
    morris_legal();
    if (set[0] == 3 ? !pass && in_mill(to) : !n_moves || men_of(mover) + hand[mover] < 3) wins(last);
    else if (!n_moves) wins(last);
    else if (is_drawn(points + 2, set[5], set[6], set[7])) draw();
}
static void morris_show(double *shown) {
    for (int p = 0; p < points; p++) shown[p] = at[p];
    shown[points] = hand[0], shown[points + 1] = hand[1];
}

/* --------------------------------------------- the race: how far tokens are, the front one first */
static int thrown;
static int race_saw(const double *shown) {
    thrown = shown[2 * players];
    return thrown >= 1 && thrown <= 6;
}
static void race_legal(void) {
    int front = at[2 * mover], rear = at[2 * mover + 1];
    if (front < 21) may(0);
    if (rear != front) may(1);
}
static int ring_cell(int player, int gone) { return (20 * player / players + gone - 1) % 20; }
static void race_play(int action) {
    int *mine = at + 2 * mover, gone = mine[action] + thrown;
    mine[action] = gone > 20 ? 21 : gone;
    for (int p = 0; p < players && gone <= 20; p++)
        for (int token = 2 * p; p != mover && token < 2 * p + 2; token++)
            if (at[token] && at[token] <= 20 && ring_cell(p, at[token]) == ring_cell(mover, gone))
                at[token] = 0;
    for (int p = 0; p < players; p++)
        if (at[2 * p] < at[2 * p + 1]) {
            int front = at[2 * p + 1];
            at[2 * p + 1] = at[2 * p], at[2 * p] = front;
        }
    if (mine[0] == 21 && mine[1] == 21) wins(mover);
    else if (thrown != 6) next_player();
}
static void race_show(double *shown) {
    for (int t = 0; t < 2 * players; t++) shown[t] = at[t];
    shown[2 * players] = thrown;
}

/* --- 2048: whether it starts from any board; exponents row by row; 0 left, 1 up, 2 right, 3 down */
static double points_made;
static int fresh;                    /* new tiles that are to come; 16 = the board is any */
static int seen(int tile) { return tile == 15 ? 14 : tile; }
static void slide_start(void) { points_made = 0, fresh = set[0] ? 16 : 2; }
static int slide_saw(const double *shown) {  /* new tiles are 2 or 4, on empty cells */
    int new_ones = 0;
    for (int c = 0; c < 16; c++) {
        if (shown[c] == seen(at[c])) continue;
        if (at[c] || (fresh < 16 && shown[c] != 1 && shown[c] != 2)) return 0;
        at[c] = shown[c], new_ones++;
    }
    int all = new_ones == fresh || fresh == 16;
    fresh = 1;
    return all;
}
static int slide(int direction, int for_real) {
    int moved = 0;
    for (int i = 0; i < 4; i++) {
        int cell[4], row[4] = {0}, n = 0, can_merge = 0;
        for (int j = 0; j < 4; j++) {
            int k = direction < 2 ? j : 3 - j;
            cell[j] = direction % 2 ? 4 * k + i : 4 * i + k;
        }
        for (int j = 0; j < 4; j++) {
            int tile = at[cell[j]];
            if (!tile) continue;
            if (can_merge && row[n - 1] == tile && tile < 15) {
                row[n - 1]++, can_merge = 0;
                if (for_real) points_made += 1 << (tile + 1);
            } else row[n++] = tile, can_merge = 1;
        }
        for (int j = 0; j < 4; j++) {
            moved |= at[cell[j]] != row[j];
            if (for_real) at[cell[j]] = row[j];
        }
    }
    return moved;
}
static void slide_legal(void) {
    for (int d = 0; d < 4; d++)
        if (slide(d, 0)) may(d);
}
static void slide_play(int action) {
    slide(action, 1);
    reward[0] = points_made;
}
static int slide_sees_end(const double *shown) {
    int possible = slide_saw(shown);
    n_moves = 0;
    slide_legal();
    over = !n_moves;
    return possible;
}
static void slide_show(double *shown) {
    for (int c = 0; c < 16; c++) shown[c] = seen(at[c]);
}

/* ------------------- Cubes: size. A sticker has a place in space and the way that it looks; a twist
   turns all stickers of a face about its axis. x is right, y is up, z is to the front. */
static const char CUBIES[20][4] = {"UFL", "URF", "UBR", "ULB", "DFR", "DLF", "DBL", "DRB",
    "UF", "UR", "UB", "UL", "FL", "FR", "BL", "BR", "DR", "DF", "DL", "DB"};
static struct { int place[3], looks[3]; } sticker[20][3];
static int last_twist, scrambled;

static int has_cubie(int i) { return i < (set[0] == 2 ? 8 : 20); }
static int coordinate(char face, int axis) {
    static const char minus[] = "LDB", plus[] = "RUF";
    return (face == plus[axis]) - (face == minus[axis]);
}
static void put_cubie(int cubie, int location, int orientation) {
    const char *name = CUBIES[location];
    int n = strlen(name);
    for (int k = 0; k < n; k++)
        for (int axis = 0; axis < 3; axis++) {
            int sum = 0;
            for (int j = 0; j < n; j++) sum += coordinate(name[j], axis);
            sticker[cubie][k].place[axis] = sum;
            sticker[cubie][k].looks[axis] = coordinate(name[(k + orientation) % n], axis);
        }
}
static void turn(int *v, const int *f) {  /* clockwise by a quarter, seen from where f points to */
    int along = v[0] * f[0] + v[1] * f[1] + v[2] * f[2];
    int turned[3] = {v[1] * f[2] - v[2] * f[1], v[2] * f[0] - v[0] * f[2], v[0] * f[1] - v[1] * f[0]};
    for (int axis = 0; axis < 3; axis++) v[axis] = turned[axis] + along * f[axis];
}
static int location_of(int cubie) {
    for (int i = 0; i < 20; i++) {
        int same = strlen(CUBIES[i]) == strlen(CUBIES[cubie]);
        for (int axis = 0; axis < 3; axis++) {
            int sum = 0;
            for (int j = 0; CUBIES[i][j]; j++) sum += coordinate(CUBIES[i][j], axis);
            same = same && sum == sticker[cubie][0].place[axis];
        }
        if (same) return i;
    }
    return -1;
}
static int orientation_of(int cubie) {
    const char *name = CUBIES[location_of(cubie)];
    for (int j = 0; name[j]; j++) {
        int same = 1;
        for (int axis = 0; axis < 3; axis++)
            same = same && coordinate(name[j], axis) == sticker[cubie][0].looks[axis];
        if (same) return j;
    }
    return -1;
}
static int one_colour(void) {        /* every sticker looks as it does at home; DRB never moves */
    for (int i = 0; has_cubie(i); i++)
        for (int k = 0; CUBIES[i][k]; k++)
            for (int axis = 0; axis < 3; axis++)
                if (sticker[i][k].looks[axis] != coordinate(CUBIES[i][k], axis)) return 0;
    return 1;
}
static void cube_start(void) { last_twist = -1, scrambled = 0; }
static int odd(const double *location, int n) {  /* whether a permutation is odd */
    int inversions = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) inversions += location[j] > location[i];
    return inversions % 2;
}
static int cube_saw(const double *shown) {  /* any cube that twists can reach, but the solved one */
    if (scrambled) return 1;
    int corners = set[0] == 2 ? 7 : 8, taken = 0, sum = 0;
    scrambled = 1;
    put_cubie(7, 7, 0);
    for (int i = 0; i < corners; i++) {
        taken |= 1 << (int)shown[i], sum += shown[corners + i];
        put_cubie(i, shown[i], shown[corners + i]);
    }
    if (taken != (1 << corners) - 1 || sum % 3) return 0;
    if (set[0] == 3) {
        taken = sum = 0;
        for (int i = 0; i < 12; i++) {
            taken |= 1 << (int)shown[16 + i], sum += shown[28 + i];
            put_cubie(8 + i, 8 + shown[16 + i], shown[28 + i]);
        }
        if (taken != (1 << 12) - 1 || sum % 2 || odd(shown, 8) != odd(shown + 16, 12)) return 0;
    }
    return !one_colour();
}
static void cube_legal(void) {
    for (int a = 0; a < (set[0] == 2 ? 9 : 18); a++)
        if (last_twist < 0 || a / 3 != last_twist / 3 || a % 3 + last_twist % 3 != 2) may(a);
}
static void cube_play(int action) {
    int face[3];
    for (int axis = 0; axis < 3; axis++) face[axis] = coordinate("ULFDRB"[action / 3], axis);
    for (int quarter = 0; quarter <= action % 3; quarter++)
        for (int i = 0; has_cubie(i); i++)
            for (int k = 0; CUBIES[i][k]; k++) {
                int *place = sticker[i][k].place;
                if (place[0] * face[0] + place[1] * face[1] + place[2] * face[2] != 1) continue;
                turn(place, face);
                turn(sticker[i][k].looks, face);
            }
    last_twist = action;
    over = one_colour();
    reward[0] = over;
}
static void cube_show(double *shown) {
    int corners = set[0] == 2 ? 7 : 8;
    for (int i = 0; i < corners; i++) {
        shown[i] = location_of(i), shown[corners + i] = orientation_of(i);
    }
    for (int i = 8; has_cubie(i); i++) {
        shown[8 + i] = location_of(i) - 8, shown[20 + i] = orientation_of(i);
    }
}

/* ------------------------------------------------------------------------------- the comparison */
static const struct game {
    const char *name;
    void (*start)(void), (*legal)(void), (*play)(int), (*show)(double *);
    int (*saw)(const double *);      /* takes over what chance has brought; 0: it cannot have */
} GAMES[] = {
    {"tictactoe", nothing, mnk_legal, mnk_play, mnk_show, 0},
    {"connect4", nothing, drop_legal, drop_play, drop_show, 0},
    {"nim", nim_start, nim_legal, nim_play, nim_show, 0},
    {"kalah", kalah_start, kalah_legal, kalah_play, kalah_show, 0},
    {"hex", hex_start, hex_legal, hex_play, hex_show, 0},
    {"dots", dots_start, dots_legal, dots_play, dots_show, 0},
    {"othello", othello_start, othello_legal, othello_play, othello_show, 0},
    {"checkers", checkers_start, checkers_legal, checkers_play, checkers_show, 0},
    {"morris", morris_start, morris_legal, morris_play, morris_show, 0},
    {"race", nothing, race_legal, race_play, race_show, race_saw},
    {"cube", cube_start, cube_legal, cube_play, cube_show, cube_saw},
    {"game2048", slide_start, slide_legal, slide_play, slide_show, slide_sees_end},
};

/* Read a log; return 0, or the number of the first game that differs, from 1 on, and say how.
   A position is: player, over, rewards, cells, number of legal actions, these, action played,
   or GIVEN_UP. */
int differs(const char *name, const int *settings, int num_players, int cells,
            const double *log, int num_games, char *how, int length) {
    const struct game *game = GAMES;
    while (strcmp(game->name, name)) game++;
    for (int number = 1; number <= num_games; number++) {
        memcpy(set, settings, sizeof set);
        memset(at, 0, sizeof at);
        memset(reward, 0, sizeof reward);
        players = num_players, mover = over = plies = quiet = history_length = thrown = 0;
        game->start();
        for (int ply = 0;; ply++) {
            const double *said = log, *rewards = log + 2, *board = rewards + players;
            const double *legal = board + cells + 1;
            int n = legal[-1], action = legal[n];
            double shown[CELLS];
            log = legal + n + 1;
            if (game->saw && !game->saw(board)) {
                snprintf(how, length, "ply %d: chance brings what it cannot", ply);
                return number;
            }
            if ((said[1] != 0) != over) {
                snprintf(how, length, "ply %d: over %g here, %d there", ply, said[1], over);
                return number;
            }
            if (!over && said[0] != mover) {
                snprintf(how, length, "ply %d: player %g here, %d there", ply, said[0], mover);
                return number;
            }
            for (int p = 0; p < players; p++)
                if (!(fabs(rewards[p] - reward[p]) <= 1e-15)) {
                    snprintf(how, length, "ply %d: reward %d is %.17g here, %.17g there",
                             ply, p, rewards[p], reward[p]);
                    return number;
                }
            game->show(shown);
            for (int c = 0; c < cells; c++)
                if (shown[c] != board[c]) {
                    snprintf(how, length, "ply %d: cell %d is %g here, %g there",
                             ply, c, board[c], shown[c]);
                    return number;
                }
            if (over) break;
            static char is_legal[ACTIONS];
            n_moves = 0;
            game->legal();
            int same = n == n_moves;
            for (int i = 0; i < n_moves; i++) is_legal[move_list[i]] = 1;
            for (int i = 0; i < n; i++) {
                int one = legal[i];
                same = same && one >= 0 && one < ACTIONS && is_legal[one];
                if (one >= 0 && one < ACTIONS) is_legal[one] = 0;
            }
            for (int i = 0; i < n_moves; i++) is_legal[move_list[i]] = 0;
            if (!same) {
                snprintf(how, length, "ply %d: %d legal actions here, %d there, or others",
                         ply, n, n_moves);
                return number;
            }
            if (action == GIVEN_UP) break;
            game->play(action);
        }
    }
    return 0;
}
